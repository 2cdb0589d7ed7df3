import { ApiRefusal } from '@gateway/api-client/failures'
import { newIdempotencyKey } from '../keys/new-idempotency-key.ts'
import { microOf } from '../pure/usd.ts'

/** What somebody typed for a funding or a correction. */
export interface WalletDraft {
  kind: 'funding' | 'correction'
  /** Once for each entry: sent again, it changes nothing. */
  id: string
  amount: string
  /** Of a correction. */
  isOut: boolean
  reason: string
}

export function emptyWalletDraft(kind: WalletDraft['kind']): WalletDraft {
  return { kind, id: `${kind}-${newIdempotencyKey()}`, amount: '', isOut: false, reason: '' }
}

/** Micro-USD with their sign; null for what is no amount, or nothing. */
export function microOfDraft({ amount, isOut }: Pick<WalletDraft, 'amount' | 'isOut'>): number | null {
  const micro = microOf(amount)
  if (!micro) return null
  return isOut ? -micro : micro
}

const params: readonly (string | null)[] = ['micro', 'fundingId', 'correctionId', 'reason']

/** Whether it is cleared by typing something else. */
export function isRefusedAtField(error: unknown): boolean {
  return error instanceof ApiRefusal && params.includes(error.param)
}
