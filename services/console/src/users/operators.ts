import type { User as UserModel } from '@gateway/database/models'
import type { UserRecord } from '@gateway/api/console/users'
import { type Refusal, refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { projectsOfKeys } from '../keys/list-keys.ts'
import { authorizeOnPlatform, passBarrier } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { deleteSecondFactor, endCredentials } from '../sign-in/end-credentials.ts'
import { type User, userOf } from '../sign-in/user.ts'

// What a platform operator may do with the users of the installation.
//   O1  An operator who may sign in is always left. Changes to operators run in sequence, and check the operator who
//       asks again: one who has just lost the role can't pass it on.
//   O2  Disabling a user ends all by which they are signed in and what their personal tokens made, and their keys are
//       refused from the next call on.
//   O3  A user whose email is not verified (A3 of accept-invitation.ts) becomes an operator only if the caller says so.

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'now'>

/** GET /api/v2/users */
export function listUsers({ prisma }: Deps): Handler<'listUsers'> {
  return async (call, res) => {
    authorizeOnPlatform(userOf(res), 'installation-users.manage')
    const { email, ...page } = call.query()
    res.json(await pageOfUsers(prisma, email === undefined ? {} : { email }, page))
  }
}

/** POST /api/v2/users/{u}/disable. Repeating it passes the barrier again. */
export function disableUser(deps: Deps): Handler<'disableUser'> {
  return async (call, res) => {
    const [by, id] = [userOf(res), call.id('user')]
    let ended: string[] = []
    const row = await changeUser(deps, by, id, async (tx, before) => {
      if (before.disabledAt !== null) return null
      if (before.platformOperator) await keepAnOperator(tx)
      ended = await endCredentials(tx, id, { by: by.id }) // O2
      return { disabledAt: deps.now() }
    })
    await passBarrier(deps, [...ended, ...(await projectsOfKeys(deps, { createdBy: id }))])
    const [record] = await userRecords(deps.prisma, [row])
    res.json(record)
  }
}

/** POST /api/v2/users/{u}/enable */
export function enableUser(deps: Deps): Handler<'enableUser'> {
  return async (call, res) => {
    const row = await changeUser(deps, userOf(res), call.id('user'), async (_tx, before) =>
      before.disabledAt === null ? null : { disabledAt: null },
    )
    const [record] = await userRecords(deps.prisma, [row])
    res.json(record)
  }
}

/**
 * Disables or enables a user.
 * @param decide returns null if nothing changes
 * @throws Refusal `not_permitted`, `not_found`
 */
async function changeUser(
  deps: Deps,
  by: User,
  id: string,
  decide: (tx: Transaction, before: UserRow) => Promise<Pick<UserRow, 'disabledAt'> | null>,
): Promise<UserRow> {
  authorizeOnPlatform(by, 'installation-users.manage')
  return changeOperators(deps, by.id, async (tx) => {
    const before = await tx.user.findUnique({ where: { id } })
    if (!before) throw refuse('not_found', {})
    const data = await decide(tx, before)
    if (data === null) return before
    const action = data.disabledAt === null ? 'user.enable' : 'user.disable'
    await recordChange(tx, { tenant: null, user: by.id, action, subject: id })
    return tx.user.update({ where: { id }, data })
  })
}

/** DELETE /api/v2/users/{u}/second-factor. Repeating it passes the barrier again. */
export function resetSecondFactor(deps: Deps): Handler<'resetSecondFactor'> {
  return async (call, res) => {
    const [by, id] = [userOf(res), call.id('user')]
    authorizeOnPlatform(by, 'installation-users.manage')
    if (id === by.id)
      throw refuse('not_permitted', { need: 'a code of your authenticator app to remove it from your account' })
    const ended = await changeOperators(deps, by.id, async (tx) => {
      if (!(await deleteSecondFactor(tx, id))) return null
      await recordChange(tx, { tenant: null, user: by.id, action: 'second-factor.reset', subject: id })
      return endCredentials(tx, id, { by: by.id })
    })
    await passBarrier(deps, [...(ended ?? []), ...(await projectsOfKeys(deps, { createdBy: id }))])
    if (ended === null) throw refuse('not_found', {})
    res.status(204).end()
  }
}

/** GET /api/v2/operators */
export function listOperators({ prisma }: Deps): Handler<'listOperators'> {
  return async (call, res) => {
    authorizeOnPlatform(userOf(res), 'operators.manage')
    res.json(await pageOfUsers(prisma, { platformOperator: true }, call.query()))
  }
}

/** POST /api/v2/operators */
export function addOperator(deps: Deps): Handler<'addOperator'> {
  return async (call, res) => {
    const by = userOf(res)
    authorizeOnPlatform(by, 'operators.manage')
    const { user: id, emailVerified } = await call.body()
    const { row, isNew } = await changeOperators(deps, by.id, async (tx) => {
      const before = await tx.user.findUnique({ where: { id } })
      if (!before) throw invalidField('user', 'is not a user of this service.', 'Send an ID from GET /api/v2/users.')
      if (before.platformOperator) return { row: before, isNew: false }
      if (emailVerified && before.vouchedBy !== null) throw unverified()
      const row = await tx.user.update({ where: { id }, data: { platformOperator: true } })
      await recordChange(tx, { tenant: null, user: by.id, action: 'operator.add', subject: id })
      return { row, isNew: true }
    })
    const [record] = await userRecords(deps.prisma, [row])
    res.status(isNew ? 201 : 200).json(record)
  }
}

/** O3 */
function unverified(): Refusal {
  return invalidField(
    'emailVerified',
    'is false for this user: an Admin handed over their invitation, and nothing has verified that the address is theirs.',
    'Have the user reset the password by mail or sign in with single sign-on, or send "emailVerified": false if you know who they are.',
  )
}

/** DELETE /api/v2/operators/{u} */
export function removeOperator(deps: Deps): Handler<'removeOperator'> {
  return async (call, res) => {
    const [by, id] = [userOf(res), call.id('user')]
    authorizeOnPlatform(by, 'operators.manage')
    await changeOperators(deps, by.id, async (tx) => {
      const before = await tx.user.findUnique({ where: { id, platformOperator: true } })
      if (!before) throw refuse('not_found', {})
      if (before.disabledAt === null) await keepAnOperator(tx)
      await tx.user.update({ where: { id }, data: { platformOperator: false } })
      await recordChange(tx, { tenant: null, user: by.id, action: 'operator.remove', subject: id })
    })
    res.status(204).end()
  }
}

/** O1. @throws Refusal `not_permitted` */
export function changeOperators<T>(
  { prisma }: Pick<Deps, 'prisma'>,
  by: string,
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT FROM control.users WHERE platform_operator ORDER BY id FOR NO KEY UPDATE`
    const user = await tx.user.findUnique({ where: { id: by, disabledAt: null } })
    authorizeOnPlatform({ platformOperator: user?.platformOperator === true }, 'operators.manage')
    return change(tx)
  })
}

/** @throws Refusal `last_operator` */
async function keepAnOperator(tx: Transaction): Promise<void> {
  if ((await tx.user.count({ where: { platformOperator: true, disabledAt: null } })) <= 1)
    throw refuse('last_operator', {})
}

async function pageOfUsers(
  prisma: Transaction,
  filter: { email?: string; platformOperator?: boolean },
  { cursor, limit }: { cursor?: string | undefined; limit: number },
) {
  const where = { ...filter, id: idsAfter(cursor, 'usr_') }
  const rows = await prisma.user.findMany({ where, orderBy: { id: 'desc' }, take: limit + 1 })
  return pageOf(await userRecords(prisma, rows), limit, ({ id }) => id)
}

type UserRow = Omit<UserModel, 'passwordHash'>

async function userRecords(prisma: Transaction, rows: UserRow[]): Promise<UserRecord[]> {
  const factors = await prisma.secondFactor.findMany({
    where: { user: { in: rows.map(({ id }) => id) }, confirmedAt: { not: null } },
    select: { user: true },
  })
  const having = new Set(factors.map(({ user }) => user))
  return rows.map(({ id, email, name, platformOperator, disabledAt, vouchedBy, createdAt }) => ({
    id,
    email,
    name,
    emailVerified: vouchedBy === null,
    platformOperator,
    disabledAt: disabledAt?.toISOString() ?? null,
    secondFactor: having.has(id),
    createdAt: createdAt.toISOString(),
  }))
}
