import { ApiRefusal } from '@gateway/api-client/failures'
import { newIdempotencyKey } from '../api/queries.ts'
import { microOf } from '../components/usd.ts'

/** Form values of a funding or a correction. */
export interface WalletDraft {
  kind: 'funding' | 'correction'
  /** Idempotency ID: an entry is booked once per ID. */
  id: string
  amount: string
  /** Debit; corrections only. */
  isOut: boolean
  reason: string
}

export function emptyWalletDraft(kind: WalletDraft['kind']): WalletDraft {
  return { kind, id: `${kind}-${newIdempotencyKey()}`, amount: '', isOut: false, reason: '' }
}

/** Signed micro-USD, or null if the amount is zero or invalid. */
export function microOfDraft({ amount, isOut }: Pick<WalletDraft, 'amount' | 'isOut'>): number | null {
  const micro = microOf(amount)
  if (!micro) return null
  return isOut ? -micro : micro
}

const params: readonly (string | null)[] = ['micro', 'fundingId', 'correctionId', 'reason']

/** Whether the error is about a field of the form. */
export function isRefusedAtField(error: unknown): boolean {
  return error instanceof ApiRefusal && params.includes(error.param)
}

// API paths that a funding or correction uses or invalidates.

const PROJECT = '/api/v2/tenants/{tenant}/projects/{project}'
export const WALLET = `${PROJECT}/wallet` as const
export const FUNDINGS = `${PROJECT}/fundings` as const
export const JOURNAL = `${PROJECT}/journal` as const
export const FUND = `${PROJECT}/wallet/fundings` as const
export const CORRECT = `${PROJECT}/wallet/corrections` as const
