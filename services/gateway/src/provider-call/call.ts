import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { ImageAsset } from '@gateway/contracts/image-limits'
import type { AdmittedCall } from '../admission/admission.ts'
import type { ImageRoom } from '../images/image-room.ts'
import type { Reservation } from './reservation.ts'

/** A call on its way: what was asked, what it was admitted as, and what is reserved for it. */
export interface Call {
  request: ChatRequest
  admitted: AdmittedCall
  /** Those that it names as images; their bytes are read when the provider is called. */
  assets: ImageAsset[]
  room: Pick<ImageRoom, 'take'>
  reservation: Reservation
  /** How long the provider has taken, once its answer is complete. */
  timing: { providerMs: number }
}
