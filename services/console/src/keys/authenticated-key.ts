import { isWellFormedSecret, KEY_SECRET_PREFIX } from '@gateway/api/ids'
import { databaseNow } from './key-record.ts'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { hashOf } from '../sign-in/secret.ts'

/**
 * Returns the key of a secret, checked in the same order as on every path (rules §2.3).
 * @throws Refusal `key_invalid`, `key_revoked`, `key_expired`, `key_paused`, `key_unbound`
 */
export async function authenticatedKey(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  secret: string,
): Promise<{ id: string; madeWith: string | null }> {
  if (!isWellFormedSecret(KEY_SECRET_PREFIX, secret)) throw refuse('key_invalid', {})
  const key = await prisma.key.findUnique({ where: { hash: hashOf(secret) } })
  if (!key) throw refuse('key_invalid', {})
  const now = await databaseNow(prisma)
  const { rotatedTo, graceUntil, expiresAt } = key
  if (key.revokedAt !== null || (rotatedTo !== null && (graceUntil === null || graceUntil <= now)))
    throw refuse('key_revoked', { rotatedTo })
  if (expiresAt !== null && expiresAt <= now) throw refuse('key_expired', { expiredAt: expiresAt.toISOString() })
  if (key.pausedAt !== null) throw refuse('key_paused', {})
  if (key.project === null) throw refuse('key_unbound', {})
  return key
}
