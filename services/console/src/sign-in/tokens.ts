import { type TokenRecord } from '@gateway/contracts/console/sign-in'
import { PERSON_TOKEN_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { onlyPersonOf } from './person.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now'>
type TokenRow = Omit<TokenRecord, 'createdAt' | 'expiresAt'> & { createdAt: Date; expiresAt: Date | null }

const PERSONAL = 'tok'
const DAY_MS = 86_400_000
export const MAKE_ANOTHER =
  'Its secret was shown once, when the token was made. Delete the token, and make another one under a new Idempotency-Key.'

/** GET /api/v2/me/tokens: my personal tokens, without their secrets. */
export function listTokens({ prisma }: Deps): Handler<'listTokens'> {
  return async (call, res) => {
    const { cursor, limit } = call.query()
    const rows = await prisma.personToken.findMany({
      where: { person: onlyPersonOf(res).id, id: { startsWith: PERSONAL, gt: readIdCursor(cursor, 'tok_') } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(tokenRecord), limit, ({ id }) => id))
  }
}

/** POST /api/v2/me/tokens: a token that may do what I may; its secret is shown this once. */
export function createToken(deps: Deps): Handler<'createToken'> {
  const { newId, now } = deps
  return async (call, res) => {
    const person = onlyPersonOf(res)
    const { name, expiresInDays } = await call.body()
    const { secret, hash, prefix } = issueSecret(PERSON_TOKEN_PREFIX, deps)
    const expiresAt = new Date(now().getTime() + expiresInDays * DAY_MS)
    await createOnce(deps, call, res, async (tx) => {
      const data = { id: newId(PERSONAL), person: person.id, name, hash, prefix, createdAt: now(), expiresAt }
      const created = await tx.personToken.create({ data })
      await recordChange(tx, { tenant: null, person: person.id, action: 'token.create', subject: created.id })
      const token = tokenRecord(created)
      return { body: { token, secret }, repeated: { token, secret: null, resolution: MAKE_ANOTHER } }
    })
  }
}

/** DELETE /api/v2/me/tokens/{id} */
export function deleteToken({ prisma }: Deps): Handler<'deleteToken'> {
  return async (call, res) => {
    const person = onlyPersonOf(res)
    const id = call.id('token')
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.personToken.deleteMany({ where: { person: person.id, AND: [{ id }, personal] } })
      if (count === 0) throw refuse('not_found', {})
      await recordChange(tx, { tenant: null, person: person.id, action: 'token.delete', subject: id })
    })
    res.status(204).end()
  }
}

const personal = { id: { startsWith: PERSONAL } }

function tokenRecord({ id, name, prefix, createdAt, expiresAt }: TokenRow): TokenRecord {
  return { id, name, prefix, createdAt: createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null }
}
