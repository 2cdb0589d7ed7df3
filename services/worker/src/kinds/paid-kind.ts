import type { ChatRequest } from '@gateway/api/chat-request'
import type { Values } from '@gateway/api/execution'
import type { AdmitNodeItem, CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { Admitted } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Route } from '@gateway/providers/chat-port'
import type { TimingLog } from '@gateway/providers/timing-log'
import type { Deps } from '../deps.ts'
import type { Work } from '../work.ts'
import type { GraphNode } from '@gateway/api/graph'
import { Refusal } from '@gateway/api/refusal'

/** Kind of node that calls a product. */
export interface PaidKind {
  /** Prepares the call of a node from its input values without calling anything. May reject with a Refusal. */
  prepare(deps: Deps, work: Work, inputs: Values, signal: AbortSignal): Promise<PaidCall>
  /** Output type in traces. */
  output: 'text' | 'image' | 'speech'
}

export interface PaidCall {
  /** Product ID. */
  product: string
  /** Conditional parameters in use, which the product must support. */
  parameters: string[]
  /** Basis for the upper bound of the price. */
  promptSize: Omit<AdmitNodeItem['promptSize'], 'counted'>
  /** Request of a chat, for an exact token count. */
  request: ChatRequest | null
  /**
   * Calls the provider.
   * Rejects with ProviderFailure, with an error of storing the response, or with the signal's reason. Then nothing is
   * charged.
   */
  make(admitted: Admitted, signal: AbortSignal, timing: TimingLog): Promise<PaidAnswer>
}

export interface PaidAnswer {
  usage: NonNullable<CompleteItem['usage']>
  /** The route that responded. */
  route: Route
  /** Time the provider took, in milliseconds, if known more precisely than the duration of `make`. */
  remoteMs?: number
  /** Finish reasons of a chat. */
  finishReasons?: string[]
  /** Returns the messages of a chat, as JSON: only for a project that captures them. */
  messages?(): string | null
  /** Returns the output values. Throws a Refusal if the response is unusable; it is charged anyway. */
  output(): Values
}

/** Returns the text at a port, or null. */
export function textAt(inputs: Values, port: string): string | null {
  const value = inputs[port]
  return typeof value === 'string' ? value : null
}

/**
 * Returns the text at a port that needs one.
 * @throws Refusal `node_failed` for a null, which comes through a branch if an optional input was left out (flows §2.5)
 */
export function requiredTextAt(inputs: Values, port: string, { id }: GraphNode): string {
  const text = textAt(inputs, port)
  if (text !== null) return text
  throw new Refusal(
    'node_failed',
    `The input ${port} of node ${id} needs text, and null came to it.`,
    'Lead it through a template, or test it for null on this side of the branch.',
    { param: port },
  )
}

/** Returns the ID of the product that a node calls. */
export function productOf({ product }: GraphNode): string {
  return typeof product === 'string' ? product : ''
}
