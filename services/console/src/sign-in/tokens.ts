import { type TokenRecord } from '@gateway/api/console/sign-in'
import { USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { onlyUserOf } from './user.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now'>
type TokenRow = Omit<TokenRecord, 'createdAt' | 'expiresAt'> & { createdAt: Date; expiresAt: Date | null }

const USERAL = 'tok'
const DAY_MS = 86_400_000
export const MAKE_ANOTHER =
  'Its secret was shown once, when the token was made. Delete the token, and make another one under a new Idempotency-Key.'

/** GET /api/v2/me/tokens: personal tokens of the user, without secrets. */
export function listTokens({ prisma }: Deps): Handler<'listTokens'> {
  return async (call, res) => {
    const { cursor, limit } = call.query()
    const rows = await prisma.userToken.findMany({
      where: { user: onlyUserOf(res).id, id: { startsWith: USERAL, gt: readIdCursor(cursor, 'tok_') } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(tokenRecord), limit, ({ id }) => id))
  }
}

/** POST /api/v2/me/tokens: a token with all permissions of the user. Its secret is shown once. */
export function createToken(deps: Deps): Handler<'createToken'> {
  return async (call, res) => {
    const user = onlyUserOf(res)
    const asked = await call.body()
    await createOnce(deps, call, res, async (tx) => {
      const { token, secret } = await makePersonalToken(deps, tx, user.id, asked)
      return { body: { token, secret }, repeated: { token, secret: null, resolution: MAKE_ANOTHER } }
    })
  }
}

/** DELETE /api/v2/me/tokens/{id} */
export function deleteToken({ prisma }: Deps): Handler<'deleteToken'> {
  return async (call, res) => {
    const user = onlyUserOf(res)
    const id = call.id('token')
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.userToken.deleteMany({ where: { user: user.id, AND: [{ id }, personal] } })
      if (count === 0) throw refuse('not_found', {})
      await recordChange(tx, { tenant: null, user: user.id, action: 'token.delete', subject: id })
    })
    res.status(204).end()
  }
}

/** Creates a token with all permissions of its user, and returns it with its secret, which can't be read again. */
export async function makePersonalToken(
  deps: Pick<Deps, 'newId' | 'random' | 'now'>,
  tx: Transaction,
  user: string,
  { name, expiresInDays }: { name: string; expiresInDays: number },
): Promise<{ token: TokenRecord; secret: string }> {
  const { secret, hash, prefix } = issueSecret(USER_TOKEN_PREFIX, deps)
  const createdAt = deps.now()
  const expiresAt = new Date(createdAt.getTime() + expiresInDays * DAY_MS)
  const data = { id: deps.newId(USERAL), user, name, hash, prefix, createdAt, expiresAt }
  const created = await tx.userToken.create({ data })
  await recordChange(tx, { tenant: null, user, action: 'token.create', subject: created.id })
  return { token: tokenRecord(created), secret }
}

const personal = { id: { startsWith: USERAL } }

function tokenRecord({ id, name, prefix, createdAt, expiresAt }: TokenRow): TokenRecord {
  return { id, name, prefix, createdAt: createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null }
}
