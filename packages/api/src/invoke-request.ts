import { z } from 'zod'
import { ceilingMicro } from './execution.ts'
import { inputExample } from './execution-examples.ts'
import { invalidIssue, READABLE } from './field-problem.ts'
import { refuse } from './refusal.ts'

/** The body of an invocation that passed every check that needs no state (flows §4.1). */
export interface InvokeRequest {
  input: Record<string, unknown>
  /** Null for the active revision. */
  revision: number | null
  /** Maximum charge in micro-USD; null for no ceiling. */
  maxMicro: number | null
  /** A consistency check only (rules §2.7). */
  projectId: string | null
}

export const invokeBody = z
  .strictObject({
    input: z
      .custom<Record<string, unknown>>(isObject, 'must be an object that fits the input of the sandbox product')
      .meta({ type: 'object', description: 'must match the input of the sandbox product' }),
    revision: z.int().min(1).nullish().describe('may only name the active one'),
    maxMicro: ceilingMicro.nullish(),
    project_id: z.string().nullish().describe('may only repeat the project that the key is bound to'),
  })
  .meta({ examples: [{ input: inputExample, maxMicro: 500 }] })

/**
 * Reads the body of POST /v1/sandbox/{id}/invoke. The ledger decides whether `input` fits the contract.
 * @throws Refusal `invalid_request` with the field as `param`
 */
export function readInvokeRequest(value: unknown): InvokeRequest {
  if (!isObject(value))
    throw refuse('invalid_request', {
      reason: 'The body is not a JSON object.',
      resolution: 'Send one JSON object with input.',
    })
  const parsed = invokeBody.safeParse(value, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  const { input, revision = null, maxMicro = null, project_id: projectId = null } = parsed.data
  return { input, revision, maxMicro, projectId }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
