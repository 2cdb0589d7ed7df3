import { usd } from '@gateway/pricing/usd'
import { z } from 'zod'
import { refusalBody } from './api/answer-shapes.ts'
import {
  executionDetailExample,
  executionExample,
  executionSummaryExample,
  progressExamples,
} from './execution-examples.ts'
import { exampleIds } from './example-ids.ts'
import { type Refusal, type RefusalBody, type RefusalCode, refuse } from './refusal.ts'

// The record of one execution of a sandbox product, as its caller sees it (flows §4.3). Names are those of the wire.
// The writers assemble it as text from stored bytes; tests of the gateway and the console check real responses against
// these shapes.

const time = z.string().describe('ISO 8601, UTC')
const micro = z.int().min(0).describe('micro-USD')
const values = z.record(z.string(), z.unknown())
const ms = z.int().min(0)

/** Maximum charge of an execution (money §7.5). */
export const ceilingMicro = micro.describe('max cost in micro-USD; null: no limit')

/** Values by port or by contract field. */
export type Values = z.infer<typeof values>

/** A stored image or sound as a value, here and in inputs and outputs (flows §4.7). */
export const assetShape = z
  .strictObject({
    asset: z.string().describe('starts with ast_'),
    mimeType: z.string(),
    bytes: z.int().min(1),
  })
  .meta({ examples: [{ asset: exampleIds.asset, mimeType: 'image/png', bytes: 70 }] })
export type AssetValue = z.infer<typeof assetShape>

export const executionNodeShape = z.strictObject({
  id: z.string(),
  kind: z.string(),
  status: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Skipped']),
  output: values.nullable(),
  error: refusalBody.nullable(),
  durationMs: ms.nullable().describe('from claim to recorded result; null before that'),
  remoteMs: ms.nullable().describe('time of the provider; null if none was called'),
  callId: z.string().nullable().describe('invocation ID of its paid call; null until it is admitted'),
  chargedMicro: micro,
  takenOver: z.boolean().describe('whether its result is reused from the execution in `rerunOf`'),
})
export type NodeRecord = z.infer<typeof executionNodeShape>
export type NodeStatus = NodeRecord['status']

/** States of an execution; the last three are final. */
export const executionStates = ['Admitted', 'Running', 'Succeeded', 'Failed', 'Cancelled'] as const

const summary = {
  id: z.string().describe('starts with exe_'),
  object: z.literal('sandbox.execution'),
  sandbox: z.string(),
  revision: z.int().min(1),
  project: z.string(),
  rerunOf: z.string().nullable().describe('the execution whose results it reuses; null: none'),
  status: z.enum(executionStates),
}
const rest = {
  error: refusalBody.nullable(),
  maxMicro: micro.nullable().describe('max cost in micro-USD; null: no limit'),
  /** Derived, never stored. */
  chargedMicro: micro.describe('micro-USD, sum of the child calls'),
  createdAt: time,
  startedAt: time.nullable().describe('time a worker claimed its first node'),
  completedAt: time.nullable(),
}

/** An execution in a list; its output and nodes are only in its own record. */
export const executionSummaryShape = z
  .strictObject({
    ...summary,
    key: z.string().nullable().describe('the key that started it; null: a user started it in the console'),
    user: z.string().nullable().describe('the user who started it in the console; null: a key did'),
    ...rest,
  })
  .meta({ examples: [executionSummaryExample] })
export type ExecutionSummary = z.infer<typeof executionSummaryShape>
export type ExecutionStatus = ExecutionSummary['status']

export const executionShape = z
  .strictObject({
    ...summary,
    output: values.nullable().describe('by field of the contract'),
    nodes: z.array(executionNodeShape).describe('in the order of the graph'),
    childCalls: z.array(z.string()).describe('the invocation IDs of the admitted calls'),
    ...rest,
  })
  .meta({ examples: [executionExample] })
export type ExecutionRecord = z.infer<typeof executionShape>

const nodeDetail = {
  input: values
    .nullable()
    .describe(
      'by input port; null until the node is claimed, and if the nodes before it fill the 256 KB that a record has for inputs. Each value is also an output of another node',
    ),
  attempts: z.int().min(0).describe('number of claims'),
  startedAt: time.nullable().describe('time of the last claim; null if never claimed, and for the input node'),
  waitedMs: ms.nullable().describe('from the time all its inputs were known to its last claim; null before that'),
}

/** A node of an execution as users read it. */
export const executionNodeDetailShape = z.strictObject({ ...executionNodeShape.shape, ...nodeDetail })
export type NodeDetail = z.infer<typeof executionNodeDetailShape>

/** An execution as users read it, with its input and each of its nodes. A caller with a key gets neither. */
export const executionDetailShape = z
  .strictObject({
    ...executionShape.shape,
    input: values.nullable().describe('by field of the contract'),
    nodes: z.array(executionNodeDetailShape).describe('in the order of the graph'),
  })
  .meta({ examples: [executionDetailExample] })
export type ExecutionDetail = z.infer<typeof executionDetailShape>

const seq = z.int().min(0).describe('without gaps')
/** A line of `application/x-ndjson` (flows §4.4). `seq` has no gaps: 0 is `admitted`, the last is `complete`. */
const lineShapes = [
  z.strictObject({
    kind: z.literal('admitted'),
    seq: z.literal(0),
    executionId: z.string(),
    revision: z.int().min(1),
    at: time,
  }),
  z.strictObject({ kind: z.literal('node'), seq, node: executionNodeShape }),
  z.strictObject({ kind: z.literal('complete'), seq, execution: executionShape }),
] as const
export type ProgressLine = z.infer<(typeof lineShapes)[number]>

/** Not a line of the execution: it ends the stream of a reader who gets no further lines. */
const refusedShape = z.strictObject({ kind: z.literal('refused'), error: refusalBody })
export type RefusedLine = z.infer<typeof refusedShape>

export const progressShape = z
  .discriminatedUnion('kind', [...lineShapes, refusedShape])
  .meta({ examples: [...progressExamples] })

/** The line from which progress is read. The bound is far above the number of lines that an execution can have. */
export const progressQuery = z
  .strictObject({
    after: z.coerce
      .number()
      .int()
      .min(-1)
      .max(1_000_000)
      .default(-1)
      .describe('the `seq` of the last line received: the response starts with the next line; -1: with the first line'),
  })
  .meta({ examples: [{ after: -1 }] })
export type ProgressQuery = z.infer<typeof progressQuery>

// How a failed execution reports its error, wherever it is shown: in its record, as progress, over MCP, to a chat
// client, in the console (rules §2.9).
//   X1  It names the execution and states the charge of the execution. The charge of a direct call is left out.
//   X2  The execution is kept, and so is its response under its idempotency key: only another key starts it again. So
//       no resolution suggests that the same request may be repeated.
//   X3  It is a function of what is stored. A replay is identical, byte for byte.

/** What started an execution: an invocation or a tool call, a chat call of the model, or a user in the console. */
export type StartedBy = 'invoke' | 'chat' | 'user'

export interface FailedExecution {
  id: string
  startedBy: StartedBy
  /** Micro-USD, the sum of all calls. */
  chargedMicro: number
  /** Whether the execution has failed. If false, it is about to, and calls in flight may still be charged. */
  ended: boolean
}

export interface FailedNode {
  startedBy: StartedBy
  /** Micro-USD, of the node's call. */
  chargedMicro: number
}

/** The error of a stopped execution, and of its nodes that were running. The ledger recognizes it by its `details`. */
export function executionCancelled(by: StoppedBy): Refusal {
  return refuse('execution_cancelled', { by }, { details: { by } })
}

/** Who stopped an execution. */
export type StoppedBy = 'user' | 'key'

/** Returns the error of an execution, from the stored one. */
export function errorOfExecution(error: RefusalBody, execution: FailedExecution): RefusalBody {
  return explained(error, execution.startedBy, chargeOfExecution(execution))
}

/** Returns the error of a node, from the stored one. */
export function errorOfNode(error: RefusalBody, { startedBy, chargedMicro }: FailedNode): RefusalBody {
  const charge = chargedMicro > 0 ? `This node was charged ${usd(chargedMicro)}.` : 'This node was not charged.'
  return explained(error, startedBy, charge)
}

function chargeOfExecution({ id, chargedMicro, ended }: FailedExecution): string {
  if (!ended) return `Execution ${id} was charged ${usd(chargedMicro)} so far.`
  if (chargedMicro === 0) return `Execution ${id} was not charged.`
  return `Execution ${id} was charged ${usd(chargedMicro)} for the calls that completed.`
}

function explained(error: RefusalBody, startedBy: StartedBy, charge: string): RefusalBody {
  const { first, otherwise } = remedyOf(error)
  const again = AGAIN[startedBy]
  const resolution = [
    first === undefined ? `${capitalised(again.begin)}${again.spent}.` : `${first} Then ${again.begin}${again.spent}.`,
    ...(otherwise === undefined ? [] : [`If it fails again, ${otherwise}.`]),
  ]
  return { ...error, message: `${withoutCharge(error.message)} ${charge}`, resolution: resolution.join(' ') } // X1
}

/** X2 */
const AGAIN: Record<StartedBy, { begin: string; spent: string }> = {
  invoke: {
    begin: 'run the sandbox product again with a new Idempotency-Key',
    spent: '. The new run is charged; the key of this execution keeps returning this failure',
  },
  chat: {
    begin: 'send the chat again, with a new Idempotency-Key if it had one',
    spent: '. The new run is charged; the key of this call keeps returning this failure',
  },
  user: { begin: 'run it again', spent: '. The new run is charged' },
}

interface Remedy {
  /** One sentence: what to do before the next run. */
  first?: string
  /** What to do if it fails again. */
  otherwise?: string
}

const WAIT: Remedy = { first: 'Wait a few seconds.' }
/** For codes of requests that start nothing, which are never the error of an execution. */
const NOTHING: Remedy = {}

/** Codes whose resolution inside an execution differs from that of a direct call. */
const remedies: { [C in RefusalCode]?: Remedy | ((error: RefusalBody) => Remedy) } = {
  provider_failed: { otherwise: 'use another model in the node' },
  provider_timeout: { otherwise: 'lower max_tokens in the params of the node, or use another model in it' },
  internal_error: { otherwise: 'send support the execution ID' },
  overloaded: WAIT,
  unavailable: WAIT,
  rate_limited: WAIT,
  activation_failed: WAIT,
  no_worker: { first: 'Wait a few seconds, or call POST /v1/sandbox/{id}/invoke, which waits longer.' },
  node_failed: ({ param, details, resolution }) =>
    param === null && details?.['executionFailing'] !== true
      ? { otherwise: 'send support the execution ID' }
      : { first: resolution },
  context_limit: { first: 'Send a shorter input, or lower max_tokens in the params of the node.' },
  ceiling_reached: ({ details = {} }) => ({ first: ceilingOf(details) }),
  insufficient_budget: ({ details = {} }) => ({ first: fundingOf(details) }),
  key_scope: { first: 'Create a key that allows the sandbox product and every product it calls.' },
  execution_cancelled: NOTHING,
  not_found: NOTHING,
  model_not_found: NOTHING,
  idempotency_key_required: NOTHING,
  idempotency_key_invalid: NOTHING,
  idempotency_in_progress: NOTHING,
  idempotency_mismatch: NOTHING,
  answer_not_kept: NOTHING,
}

function remedyOf(error: RefusalBody): Remedy {
  const remedy = remedies[error.code]
  if (remedy === undefined) return { first: withoutCharge(error.resolution) }
  return typeof remedy === 'function' ? remedy(error) : remedy
}

/** Later paid nodes of the flow need more on top of this. */
function ceilingOf({ chargedMicro, reservedMicro, neededMicro }: Record<string, unknown>): string {
  return `Set maxMicro to ${Number(chargedMicro) + Number(reservedMicro) + Number(neededMicro)} or higher, or omit it.`
}

function fundingOf({ reservedMicro, affordableMaxTokens }: Record<string, unknown>): string {
  return `${[
    'Ask the platform operator to add funds to the project',
    ...(Number(reservedMicro) > 0 ? ['wait until other calls of the project have settled'] : []),
    ...(Number(affordableMaxTokens) > 0
      ? [`set max_tokens to ${Number(affordableMaxTokens)} or less in the params of the node`]
      : []),
  ].join(', or ')}.`
}

/** Removes the sentences about the charge of a direct call. */
function withoutCharge(text: string): string {
  return text.replaceAll(/ (?:Nothing (?:is|was) (?:charged|reserved)|Its answer is charged)[^.]*\./g, '')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
