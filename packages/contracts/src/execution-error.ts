import type { StoppedBy } from './flow-items.ts'
import { refuse, type Refusal, type RefusalBody, type RefusalCode } from './refusal.ts'

// What a failed execution says of its error, wherever it is shown: in its record, as progress, over MCP, to a chat client,
// in the console (rules §2.9).
//   X1  It speaks of the execution and of what that was charged. What a direct call would say of its own charge is left out.
//   X2  The execution is kept, and so is its answer under its idempotency key: it begins anew under another key and by
//       nothing else. So no resolution says that the same request may be repeated.
//   X3  It is a function of what is stored. A replay says the same, byte for byte.

/** How an execution was begun: by an invocation or a call of the tool, as a chat model, or by a person in the console. */
export type BegunBy = 'invoke' | 'chat' | 'person'

export interface FailedExecution {
  id: string
  begunBy: BegunBy
  /** Micro-USD, of all its calls. */
  chargedMicro: number
  /** It has failed; else it is about to, and calls that are under way may still be charged. */
  ended: boolean
}

export interface FailedNode {
  begunBy: BegunBy
  /** Micro-USD, of its call. */
  chargedMicro: number
}

/** The error of an execution that was stopped, and of its nodes that were under way. The ledger knows it by its `details`. */
export function executionCancelled(by: StoppedBy): Refusal {
  return refuse('execution_cancelled', { by }, { details: { by } })
}

/** The error of an execution, from the stored one. */
export function errorOfExecution(error: RefusalBody, execution: FailedExecution): RefusalBody {
  return explained(error, execution.begunBy, chargeOfExecution(execution))
}

/** The error of one of its nodes, from the stored one. */
export function errorOfNode(error: RefusalBody, { begunBy, chargedMicro }: FailedNode): RefusalBody {
  const charge = chargedMicro > 0 ? `This node was charged ${chargedMicro} micro-USD.` : 'This node was not charged.'
  return explained(error, begunBy, charge)
}

function chargeOfExecution({ id, chargedMicro, ended }: FailedExecution): string {
  if (!ended) return `The execution ${id} was charged ${chargedMicro} micro-USD so far.`
  if (chargedMicro === 0) return `The execution ${id} was not charged.`
  return `The execution ${id} was charged ${chargedMicro} micro-USD for the calls that were answered.`
}

function explained(error: RefusalBody, begunBy: BegunBy, charge: string): RefusalBody {
  const { first, otherwise } = remedyOf(error)
  const again = AGAIN[begunBy]
  const resolution = [
    first === undefined ? `${capitalised(again.begin)}${again.spent}.` : `${first} Then ${again.begin}${again.spent}.`,
    ...(otherwise === undefined ? [] : [`If it fails again, ${otherwise}.`]),
  ]
  return { ...error, message: `${withoutCharge(error.message)} ${charge}`, resolution: resolution.join(' ') } // X1
}

/** X2 */
const AGAIN: Record<BegunBy, { begin: string; spent: string }> = {
  invoke: {
    begin: 'run the sandbox product again with a new Idempotency-Key',
    spent: ', which is charged anew: the key of this execution is spent and answers this failure again',
  },
  chat: {
    begin: 'send the chat again, with a new Idempotency-Key if it had one',
    spent: ', which is charged anew: a key that was sent is spent and answers this failure again',
  },
  person: { begin: 'execute it again', spent: ', which is charged anew' },
}

interface Remedy {
  /** A sentence: what to do before it is run again. */
  first?: string
  /** What to do where running it again does not help. */
  otherwise?: string
}

const WAIT: Remedy = { first: 'Wait for some seconds.' }
/** Codes of requests that never began anything; as an error of an execution they have nothing to say of their own. */
const NOTHING: Remedy = {}

/** Where the resolution of a direct call is not what clears it inside an execution. */
const remedies: { [C in RefusalCode]?: Remedy | ((error: RefusalBody) => Remedy) } = {
  provider_failed: { otherwise: 'use another model in the node' },
  provider_timeout: { otherwise: 'set a smaller max_tokens in the params of the node, or use another model in it' },
  internal_error: { otherwise: 'send support the id of the execution' },
  overloaded: WAIT,
  unavailable: WAIT,
  rate_limited: WAIT,
  activation_failed: WAIT,
  no_worker: { first: 'Wait for some seconds, or call POST /v1/sandbox/{id}/invoke, which waits longer.' },
  node_failed: ({ param, resolution }) =>
    param === null ? { otherwise: 'send support the id of the execution' } : { first: resolution },
  context_limit: { first: 'Send a shorter input, or set a smaller max_tokens in the params of the node.' },
  ceiling_reached: ({ details = {} }) => ({ first: ceilingOf(details) }),
  insufficient_budget: ({ details = {} }) => ({ first: fundingOf(details) }),
  key_scope: { first: 'Create a key whose allowlist contains the sandbox product and all that it calls.' },
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

/** What else the flow pays for after this node comes on top. */
function ceilingOf({ chargedMicro, reservedMicro, neededMicro }: Record<string, unknown>): string {
  return `Choose a maxMicro of ${Number(chargedMicro) + Number(reservedMicro) + Number(neededMicro)} or more, or none.`
}

function fundingOf({ reservedMicro, affordableMaxTokens }: Record<string, unknown>): string {
  return `${[
    'Ask the platform operator to fund the project',
    ...(Number(reservedMicro) > 0 ? ['wait until other calls of the project have settled'] : []),
    ...(Number(affordableMaxTokens) > 0
      ? [`set at most ${Number(affordableMaxTokens)} max_tokens in the params of the node`]
      : []),
  ].join(', or ')}.`
}

/** Without the sentences that say what a direct call is charged. */
function withoutCharge(text: string): string {
  return text.replaceAll(/ (?:Nothing (?:is|was) (?:charged|reserved)|Its answer is charged)[^.]*\./g, '')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
