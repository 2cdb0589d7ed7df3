import { type TokenRecord } from '@gateway/api/console/sign-in'
import { USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { holdsScope, type Scope } from '@gateway/api/console/scopes'
import { projectsOfKeys } from '../keys/list-keys.ts'
import { passBarrier } from '../permissions/authorize.ts'
import { endPersonalTokens } from './end-credentials.ts'
import { onlyUserOf, type PersonalToken, sessionOf } from './user.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now'>
type TokenRow = Omit<TokenRecord, 'createdAt' | 'expiresAt' | 'scopes'> & {
  scopes: string[]
  createdAt: Date
  expiresAt: Date
}

const PERSONAL = 'tok'
const DAY_MS = 86_400_000
export const MAKE_ANOTHER =
  'Its secret was shown once, when the token was made. Delete the token, and make another one under a new Idempotency-Key.'

/** GET /api/v2/me/tokens: personal tokens of the user, without secrets. */
export function listTokens({ prisma }: Deps): Handler<'listTokens'> {
  return async (call, res) => {
    const { cursor, limit } = call.query()
    const rows = await prisma.userToken.findMany({
      where: { user: onlyUserOf(res).id, id: idsAfter(cursor, `${PERSONAL}_`) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(tokenRecord), limit, ({ id }) => id))
  }
}

/** POST /api/v2/me/tokens: a token with the permissions of the user, in its scopes. Its secret is shown once. */
export function createToken(deps: Deps): Handler<'createToken'> {
  return async (call, res) => {
    const user = sessionOf(res)
    const asked = await call.body()
    await createOnce(deps, call, res, async (tx) => {
      const { secondFactor } = await lockSession(tx, user)
      const { token, secret } = await makePersonalToken(deps, tx, user.id, { ...asked, secondFactor })
      return { body: { token, secret }, repeated: { token, secret: null, resolution: MAKE_ANOTHER } }
    })
  }
}

/**
 * DELETE /api/v2/me/tokens/{id}: a token deletes itself, and others only with the scope `account:write`. What it made
 * ends too. Repeating it passes the barrier again.
 */
export function deleteToken(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'deleteToken'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = onlyUserOf(res)
    const id = call.id('token')
    const { personal } = user
    if (personal !== undefined && personal.id !== id && !holdsScope(personal.scopes, 'account:write'))
      throw refuse('scope_missing', { scopes: 'account:write' })
    const isDeleted = await prisma.$transaction(async (tx) => {
      const { ids } = await endPersonalTokens(tx, { user: user.id, id }, { by: user.id })
      if (ids.length === 0) return false
      await recordChange(tx, { tenant: null, user: user.id, action: 'token.delete', subject: id })
      return true
    })
    await passBarrier(deps, await projectsOfKeys({ prisma }, { madeWith: id }))
    if (!isDeleted) throw refuse('not_found', {})
    res.status(204).end()
  }
}

/**
 * Locks the session of a request before something is created by it, so that ending the session ends that too. Returns
 * whether it has a second factor now, and had one when the request was authenticated: one that was confirmed in the
 * meantime gave the session another secret (F6 in second-factor.ts).
 * @throws Refusal `session_missing`
 */
export async function lockSession(
  tx: Transaction,
  { session, secondFactor }: ReturnType<typeof sessionOf>,
): Promise<{ secondFactor: boolean }> {
  const [open] = await tx.$queryRaw<{ secondFactor: boolean }[]>`
    SELECT second_factor AS "secondFactor" FROM control.sessions WHERE id = ${session} FOR SHARE`
  if (!open) throw refuse('session_missing', {})
  return { secondFactor: open.secondFactor && secondFactor }
}

/**
 * Locks the personal token of a request, if any, before something is created with it, so that deleting the token ends
 * that too. Returns its ID, to be stored as `madeWith`.
 * @throws Refusal `token_invalid`
 */
export async function lockToken(tx: Transaction, personal: PersonalToken | undefined): Promise<string | null> {
  if (personal === undefined) return null
  if (!(await holdToken(tx, personal.id))) throw refuse('token_invalid', {})
  return personal.id
}

/** Keeps a personal token from being deleted until the end of the transaction. Returns whether there still is one. */
export async function holdToken(tx: Transaction, id: string): Promise<boolean> {
  const held = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM control.user_tokens WHERE id = ${id} FOR SHARE`
  return held.length > 0
}

/** Creates a token of a user, and returns it with its secret, which can't be read again. */
export async function makePersonalToken(
  deps: Pick<Deps, 'newId' | 'random' | 'now'>,
  tx: Transaction,
  user: string,
  asked: { name: string; scopes: string[]; expiresInDays: number; secondFactor: boolean },
): Promise<{ token: TokenRecord; secret: string }> {
  const { secret, hash, prefix } = issueSecret(USER_TOKEN_PREFIX, deps)
  const createdAt = deps.now()
  const { name, expiresInDays, secondFactor } = asked
  const scopes = [...new Set(asked.scopes)].toSorted()
  const expiresAt = new Date(createdAt.getTime() + expiresInDays * DAY_MS)
  const data = { id: deps.newId(PERSONAL), user, name, hash, prefix, scopes, secondFactor, createdAt, expiresAt }
  const created = await tx.userToken.create({ data })
  await recordChange(tx, { tenant: null, user, action: 'token.create', subject: created.id, details: { scopes } })
  return { token: tokenRecord(created), secret }
}

function tokenRecord({ id, name, prefix, scopes, createdAt, expiresAt }: TokenRow): TokenRecord {
  const times = { createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() }
  return { id, name, prefix, scopes: scopes as Scope[], ...times }
}
