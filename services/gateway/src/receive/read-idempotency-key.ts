import type { IncomingMessage } from 'node:http'
import { idempotencyKeyLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'

const { min, max } = idempotencyKeyLimits
const VISIBLE_ASCII = new RegExp(`^[!-~]{${min},${max}}$`)

/**
 * The Idempotency-Key header, or null without one (spec 4.2).
 * @throws Refusal `idempotency_key_invalid`
 */
export function readIdempotencyKey({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !VISIBLE_ASCII.test(key)) throw refuse('idempotency_key_invalid', {})
  return key
}
