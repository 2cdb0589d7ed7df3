import type { RequestHandler } from 'express'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { pathIdOf } from '../receive/check.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { visibleKeys } from '../permissions/visible-keys.ts'
import { personOf } from '../sign-in/person.ts'
import { databaseNow } from './database-now.ts'
import { keyRecords } from './key-record.ts'
import { canBeRevoked, keyState } from './key-state.ts'
import { lockKey } from './lock-key.ts'

/** POST …/keys/{k}/revoke: ends the key's use for ever. */
export function revokeKey({
  prisma,
  passBarrier,
}: Pick<ConsoleDeps, 'prisma'> & { passBarrier: PassBarrier }): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const visible = await visibleKeys({ prisma }, person, tenant)
    const id = pathIdOf(req, 'key')
    const { key, refusal } = await prisma.$transaction(async (tx) => {
      const found = await lockKey(tx, id, visible)
      const now = await databaseNow(tx)
      if (!canBeRevoked(found, now)) {
        const facts = { state: keyState(found, now), rotatedTo: found.rotatedTo }
        return { key: found, refusal: refuse('key_not_active', facts, { details: facts }) }
      }
      const revoked = await tx.key.update({ where: { id }, data: { revokedAt: now } })
      await recordChange(tx, { tenant, person: person.id, action: 'key.revoke', subject: id })
      return { key: revoked, refusal: null }
    })
    if (key.project !== null) await passBarrier([key.project])
    if (refusal) throw refusal
    const [record] = await keyRecords(prisma, [key], await databaseNow(prisma))
    res.json(record)
  }
}
