import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { inputExample } from './execution-examples.ts'
import type { Values } from './execution.ts'
import { invalidIssue, READABLE } from './field-problem.ts'
import type { FlowPackage } from './graph.ts'
import { invokeBody } from './invoke-request.ts'

// The maximum charge of an execution, before it starts (money §7.6).

export const estimateBody = invokeBody.omit({ maxMicro: true }).meta({ examples: [{ input: inputExample }] })

/** @throws Refusal `invalid_request` with the field as `param` */
export function readEstimateRequest(value: unknown) {
  const parsed = estimateBody.safeParse(value, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  const { input, revision = null, project_id: projectId = null } = parsed.data
  return { input, revision, projectId }
}

const micro = z.int().min(0)
const charged = (which: string) => micro.nullable().describe(`micro-USD, ${which}; null where none has ended`)

export const sandboxEstimate = z
  .strictObject({
    object: z.literal('sandbox.estimate'),
    sandbox: z.string(),
    revision: z.int().min(1),
    atMostMicro: micro.describe('micro-USD: max cost of an execution with this input, at current prices'),
    nodes: z
      .array(z.strictObject({ id: z.string(), atMostMicro: micro.describe('0 if the node does not run') }))
      .describe('nodes that call a product, in the order of the graph; an execution may not run all of them'),
    last: z
      .strictObject({
        samePackage: z.boolean().describe('true: of this package only; false: of all packages of the sandbox product'),
        executions: z.int().min(0).max(100),
        minMicro: charged('the least'),
        medianMicro: charged('half of them were charged this or less'),
        p90Micro: charged('nine in ten were charged this or less'),
        maxMicro: charged('the most'),
      })
      .describe('charges of the most recent ended executions: at most 100, among the last 1,000'),
  })
  .meta({
    examples: [
      {
        object: 'sandbox.estimate',
        sandbox: exampleIds.sandbox,
        revision: 1,
        atMostMicro: 930,
        nodes: [{ id: 'draft', atMostMicro: 930 }],
        last: { samePackage: true, executions: 100, minMicro: 120, medianMicro: 204, p90Micro: 390, maxMicro: 612 },
      },
    ],
  })
export type SandboxEstimate = z.infer<typeof sandboxEstimate>

/**
 * Bounds of the calls of a product, at current prices. Amounts are strings of digits: pico-USD exceed the range of a
 * JSON number.
 */
export interface EstimatedProduct {
  id: string
  /** False for an image or audio product with a price per call, whose context bounds nothing. */
  bounded: boolean
  /** Whether the product names its tokenizer, so that a prompt can be counted. */
  counted: boolean
  contextLength: number
  maxOutputTokens: number
  tokensPerByteMillionths: number
  perMessage: number
  perTool: number
  fixedWithTools: number
  /** Null if the product takes no images. */
  maxTokensPerImage: number | null
  factorMillionths: number
  promptPico: string
  cacheWritePico: string | null
  completionPico: string
  requestPico: string
}

/** Everything that an estimate is computed from, as the ledger has it at one moment. */
export interface EstimateFacts {
  project: string
  sandbox: string
  revision: number
  package: FlowPackage
  /** Values of the input node, by field. */
  values: Values
  products: EstimatedProduct[]
  last: SandboxEstimate['last']
}
