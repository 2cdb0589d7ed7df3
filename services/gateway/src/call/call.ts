import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { AdmittedCall } from '../admit/admit-call.ts'
import type { Hold } from './reservation.ts'

/** A call on its way: what was asked, what it was admitted as, and what is held for it. */
export interface Call {
  request: ChatRequest
  admitted: AdmittedCall
  /** Whether it came with an idempotency key, so that its answer is kept. */
  keyed: boolean
  hold: Hold
  /** How long the provider has taken, once its answer is complete. */
  timing: { providerMs: number }
}
