import type { ChatRequest } from '@gateway/api/chat-request'
import type { Values } from '@gateway/api/execution'
import type { AdmitNodeItem, CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { Admitted } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Deps } from '../deps.ts'
import type { Work } from '../work.ts'
import type { GraphNode } from '@gateway/api/graph'

/** A kind of node that calls a product. */
export interface PaidKind {
  /** Makes the call of a node from the values at its ports; nothing is called yet. May reject with a Refusal. */
  prepare(deps: Deps, work: Work, inputs: Values, signal: AbortSignal): Promise<PaidCall>
  /** What a trace says that it makes. */
  output: 'text' | 'image' | 'speech'
}

export interface PaidCall {
  /** Its id. */
  product: string
  /** Conditional parameters in use, which the product must support. */
  parameters: string[]
  /** What the upper bound of its price is computed from. */
  promptSize: Omit<AdmitNodeItem['promptSize'], 'counted'>
  /** Of a chat: what an exact count is made of. */
  request: ChatRequest | null
  /**
   * Calls the provider.
   * Rejects with ProviderFailure, with what storing the answer failed with, or with the signal's reason: then nothing is charged.
   */
  make(admitted: Admitted, signal: AbortSignal): Promise<PaidAnswer>
}

export interface PaidAnswer {
  usage: NonNullable<CompleteItem['usage']>
  /** What the provider took, in milliseconds, where it is known better than by how long `make` took. */
  remoteMs?: number
  /** Why the model stopped, of a chat. */
  finishReasons?: string[]
  /** The values that the answer makes. Throws a Refusal where it makes none; the answer is charged all the same. */
  output(): Values
}

/** The text at a port; null where there is none. */
export function textAt(inputs: Values, port: string): string | null {
  const value = inputs[port]
  return typeof value === 'string' ? value : null
}

/** The product that a node calls. */
export function productOf({ product }: GraphNode): string {
  return typeof product === 'string' ? product : ''
}
