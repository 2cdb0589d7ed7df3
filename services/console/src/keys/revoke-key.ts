import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { visibleKeys } from '../permissions/visible-keys.ts'
import { personOf } from '../sign-in/person.ts'
import { databaseNow } from './database-now.ts'
import { keyRecord } from './key-record.ts'
import { canBeRevoked, keyState } from './key-state.ts'
import { lockKey } from './lock-key.ts'
import { passBarrier } from '../permissions/pass-barrier.ts'

/** POST …/keys/{k}/revoke: ends the key's use for ever. */
export function revokeKey(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'revokeKey'> {
  const { prisma } = deps
  return async (call, res) => {
    const person = personOf(res)
    const tenant = call.id('tenant')
    const visible = await visibleKeys({ prisma }, person, tenant)
    const id = call.id('key')
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
    if (key.project !== null) await passBarrier(deps, [key.project])
    if (refusal) throw refusal
    res.json(await keyRecord(prisma, key, await databaseNow(prisma), person.id))
  }
}
