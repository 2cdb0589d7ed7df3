import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { AdmittedCall } from '../admission/admission.ts'
import type { CallImages } from '../images/prepare-images.ts'
import type { Reservation } from './reservation.ts'

/** A call on its way: what was asked, what it was admitted as, and what is reserved for it. */
export interface Call {
  request: ChatRequest
  admitted: AdmittedCall
  /** null if it has none. Their bytes are read when the provider is called. */
  images: Pick<CallImages, 'load'> | null
  reservation: Reservation
  /** How long the provider has taken, once its answer is complete. */
  timing: { providerMs: number }
}
