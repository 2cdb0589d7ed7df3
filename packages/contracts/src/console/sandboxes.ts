import { z } from 'zod'
import { ceilingMicro, executionStates } from '../execution.ts'
import { flowPackage, graph, graphProblem } from '../graph.ts'
import { id, label, paragraph, time } from './fields.ts'
import { pageQuery } from './page.ts'

const sandboxFields = {
  name: label(100),
  description: paragraph(2000),
  mcpEnabled: z.boolean(),
  suspended: z.boolean().describe('true: nobody can call it from outside'),
}
export const newSandboxBody = z.strictObject({
  ...sandboxFields,
  description: sandboxFields.description.default(''),
  mcpEnabled: z.boolean().default(false),
  suspended: z.boolean().default(false),
})
export const sandboxPatch = z.strictObject(sandboxFields).partial()
export const sandboxRecord = z.strictObject({
  id: id.describe('starts with sbx-'),
  ...sandboxFields,
  project: id,
  activeRevision: z.int().nullable().describe('null: none was activated yet'),
  activePackage: z
    .strictObject({
      digest: z.string().describe('SHA-256 of the package, hex'),
      runnerVersion: z.string(),
      manifest: z.array(z.string()).describe('the products that its nodes call'),
      builtAt: time,
    })
    .nullable()
    .describe('what the activation built of the revision, and what answers calls; null: none was activated yet'),
  latestRevision: z.int().describe('0: none was saved yet'),
  createdAt: time,
})
export type SandboxRecord = z.infer<typeof sandboxRecord>

/** What is no graph at all is 400; what is wrong with one is said all at once (flows §2.7). */
export const newRevisionBody = z.strictObject({
  graph,
  draft: z.boolean().default(false),
  baseRevision: z.int().min(0).nullable().default(null).describe('the latest revision that the author knows of'),
})

/**
 * As it was saved, for ever: an activation changes nothing of it, and what it builds stands in the sandbox record.
 * `package` has the bytes that the digest is of.
 */
export const revisionRecord = z.strictObject({
  number: z.int().min(1),
  draft: z.boolean(),
  baseRevision: z.int().min(0).nullable(),
  digest: z.string().nullable().describe('SHA-256 of the package, hex; null where the graph had problems'),
  graph,
  problems: z.array(graphProblem),
  package: flowPackage.nullable(),
  createdBy: z.string(),
  createdAt: time,
})
export type RevisionRecord = z.infer<typeof revisionRecord>

export const executeBody = z.strictObject({
  input: z
    .custom<Record<string, unknown>>(isObject, 'expected an object that fits the contract')
    .meta({ type: 'object', description: 'fits the input of the sandbox product' }),
  revision: z.int().min(1).nullable().default(null).describe('null: the active one'),
  maxMicro: ceilingMicro.nullable().default(null),
})

export const estimateInputBody = executeBody.omit({ maxMicro: true })

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text))
/** Which executions of a sandbox product are listed. */
export const executionsQuery = z
  .strictObject({
    ...pageQuery.shape,
    state: z.enum(executionStates).optional().describe('the status that they have now'),
    revision: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
    from: moment
      .optional()
      .describe('begun at this moment or later')
      .meta({ examples: ['2026-11-01T00:00:00Z'] }),
    to: moment
      .optional()
      .describe('begun before this moment')
      .meta({ examples: ['2026-12-01T00:00:00Z'] }),
  })
  .refine(({ from, to }) => !from || !to || from < to, { path: ['from'], error: 'must be before to' })
