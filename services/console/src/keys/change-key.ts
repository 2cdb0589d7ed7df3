import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { passBarrier } from '../permissions/authorize.ts'
import { visibleKeys } from '../permissions/visible-projects.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'
import { databaseNow, keyRecord, keyState } from './key-record.ts'
import { lockKey, requireIssuer } from './rotate-key.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>
type Key = Awaited<ReturnType<typeof lockKey>>

/** PATCH …/keys/{k}: renames a key in any state. */
export function renameKey({ prisma }: Deps): Handler<'renameKey'> {
  return async (call, res) => {
    const [user, tenant, id] = [userOf(res), call.id('tenant'), call.id('key')]
    const visible = await visibleKeys({ prisma }, user, tenant)
    const { name } = await call.body()
    const key = await prisma.$transaction(async (tx) => {
      const found = await lockKey(tx, id, visible)
      if (found.name === name) return found
      const details = { name, before: found.name }
      await recordChange(tx, { tenant, user: user.id, action: 'key.rename', subject: id, details })
      return tx.key.update({ where: { id }, data: { name } })
    })
    res.json(await keyRecord(prisma, key, await databaseNow(prisma), user.id))
  }
}

/** POST …/keys/{k}/pause: refuses the key until it is resumed (rules §6.14). Repeating it changes nothing. */
export function pauseKey({ prisma, ledger }: Deps): Handler<'pauseKey'> {
  return async (call, res) => {
    const [user, tenant, id] = [userOf(res), call.id('tenant'), call.id('key')]
    const visible = await visibleKeys({ prisma }, user, tenant)
    const key = await prisma.$transaction(async (tx) => setPaused(tx, await lockKey(tx, id, visible), user.id, true))
    await passBarrier({ ledger }, [key.project!])
    res.json(await keyRecord(prisma, key, await databaseNow(prisma), user.id))
  }
}

/** POST …/keys/{k}/resume: for who may issue the key, as its creator still has to (rules §6.14). */
export function resumeKey({ prisma }: Deps): Handler<'resumeKey'> {
  return async (call, res) => {
    const [user, tenant, id] = [userOf(res), call.id('tenant'), call.id('key')]
    const visible = await visibleKeys({ prisma }, user, tenant)
    const key = await prisma.$transaction(async (tx) => {
      const found = await lockKey(tx, id, visible)
      const resumed = await setPaused(tx, found, user.id, false)
      await requireIssuer(tx, found.createdBy, { tenant, project: found.project!, use: true })
      await requireIssuer(tx, user.id, { tenant, project: found.project!, use: false })
      return resumed
    })
    res.json(await keyRecord(prisma, key, await databaseNow(prisma), user.id))
  }
}

/** @throws Refusal `key_not_active` for a key that is neither active nor paused */
async function setPaused(tx: Transaction, key: Key, user: string, isPaused: boolean): Promise<Key> {
  const { id, tenant, name, rotatedTo } = key
  const now = await databaseNow(tx)
  const state = keyState(key, now)
  if (state !== 'Active' && state !== 'Paused')
    throw refuse('key_not_active', { state, rotatedTo }, { details: { state, rotatedTo } })
  if ((state === 'Paused') === isPaused) return key
  const action = isPaused ? 'key.pause' : 'key.resume'
  await recordChange(tx, { tenant, user, action, subject: id, details: { name } })
  return tx.key.update({ where: { id }, data: { pausedAt: isPaused ? now : null } })
}
