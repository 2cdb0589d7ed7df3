import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { AdmittedCall } from '../admission/admission.ts'
import type { Reservation } from './reservation.ts'

/** A call on its way: what was asked, what it was admitted as, and what is reserved for it. */
export interface Call {
  request: ChatRequest
  admitted: AdmittedCall
  reservation: Reservation
  /** How long the provider has taken, once its answer is complete. */
  timing: { providerMs: number }
}
