import type { Prisma } from '@gateway/database/client'
import { refuse } from '@gateway/contracts/refusal'
import type { Transaction } from '../audit/record-change.ts'

/**
 * Locks a key, so that of two who rotate or revoke it the second sees what the first did.
 * @throws Refusal `not_found` for a key that is not among those the caller may manage
 */
export async function lockKey(tx: Transaction, id: string, visible: Prisma.KeyWhereInput) {
  await tx.$queryRaw`SELECT FROM control.keys WHERE id = ${id} FOR UPDATE`
  const key = await tx.key.findFirst({ where: { AND: [visible, { id }] } })
  if (key) return key
  throw refuse('not_found', {})
}
