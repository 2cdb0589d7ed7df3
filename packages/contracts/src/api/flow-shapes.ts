import { z } from 'zod'
import { newRevisionBody } from '../console.ts'
import { contractSide, graph } from '../graph.ts'
import { refusalBody } from './answer-shapes.ts'

// The shapes of runs and revisions, which their programs write as text from stored bytes (execution.ts, graph.ts and console.ts
// have them as types). Tests of gateway and console hold real answers against them.

const time = z.string().describe('ISO 8601, UTC')
const micro = z.int().min(0).describe('micro-USD')
const values = z.record(z.string(), z.unknown())
const ms = z.int().min(0)

/** Bytes as they are. */
export const bytesShape = z.unknown().meta({ type: 'string', format: 'binary' })

/** A stored image or sound as a value, here and in inputs and outputs. */
export const assetShape = z.strictObject({
  asset: z.string().describe('starts with ast_'),
  mimeType: z.string(),
  bytes: z.int().min(1),
})

export const executionNodeShape = z.strictObject({
  id: z.string(),
  kind: z.string(),
  status: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Skipped']),
  output: values.nullable(),
  error: refusalBody.nullable(),
  durationMs: ms.nullable().describe('from its claim to its record; null before that'),
  remoteMs: ms.nullable().describe('what the provider took; null where none was called'),
  callId: z.string().nullable().describe('the invocation of its paid call'),
  chargedMicro: micro,
})

const summary = {
  id: z.string().describe('starts with exe_'),
  object: z.literal('sandbox.execution'),
  sandbox: z.string(),
  revision: z.int().min(1),
  project: z.string(),
  status: z.enum(['Admitted', 'Running', 'Succeeded', 'Failed']),
}
const rest = {
  error: refusalBody.nullable(),
  chargedMicro: micro.describe('micro-USD, the sum of the child calls'),
  createdAt: time,
  startedAt: time.nullable().describe('when a worker took up its first node'),
  completedAt: time.nullable(),
}

/** A run in a list. */
export const executionSummaryShape = z.strictObject({ ...summary, ...rest })

export const executionShape = z.strictObject({
  ...summary,
  output: values.nullable().describe('by field of the contract'),
  nodes: z.array(executionNodeShape).describe('in the order of the graph'),
  childCalls: z.array(z.string()).describe('invocation ids'),
  ...rest,
})

const seq = z.int().min(0).describe('without gaps')
/** A line of `application/x-ndjson`. */
export const progressShape = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('admitted'),
    seq: z.literal(0),
    executionId: z.string(),
    revision: z.int().min(1),
    at: time,
  }),
  z.strictObject({ kind: z.literal('node'), seq, node: executionNodeShape }),
  z.strictObject({ kind: z.literal('complete'), seq, execution: executionShape }),
])

export const graphProblemShape = z.strictObject({
  code: z.string(),
  node: z.string().nullable().describe('null: the graph as a whole'),
  port: z.string().nullable(),
  message: z.string(),
  resolution: z.string(),
})

/** What is deployed: immutable. */
export const flowPackageShape = z.strictObject({
  runnerVersion: z.string(),
  graph,
  input: contractSide,
  output: contractSide,
  manifest: z.array(z.string()).describe('the products that its nodes call'),
})

export const revisionShape = z.strictObject({
  number: z.int().min(1),
  draft: z.boolean(),
  baseRevision: z.int().min(0).nullable(),
  digest: z.string().nullable().describe('SHA-256 of the package, hex; null where the graph has problems'),
  graph,
  problems: z.array(graphProblemShape),
  package: flowPackageShape.nullable(),
  createdBy: z.string(),
  createdAt: time,
})

export const saveRevisionBody = newRevisionBody.extend({ graph })
