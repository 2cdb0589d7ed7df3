import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { Values } from '@gateway/contracts/execution'
import type { AdmitNodeItem, CompleteItem } from '@gateway/contracts/flow-items'
import type { Admitted } from '@gateway/contracts/ledger-outcomes'
import type { Work } from '../run/run-node.ts'

/** A kind of node that calls a product: makes its call from the values at its ports. May reject with a Refusal. */
export type PaidKind = (work: Work, inputs: Values, signal: AbortSignal) => Promise<PaidCall>

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
