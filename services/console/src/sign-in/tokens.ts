import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import { type TokenRecord, newTokenBody } from '@gateway/contracts/console/sign-in'
import { PERSON_TOKEN_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import { personOf } from './person.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'mint' | 'random' | 'now'>
type TokenRow = Omit<TokenRecord, 'createdAt' | 'expiresAt'> & { createdAt: Date; expiresAt: Date | null }

const PERSONAL = 'tok'
const DAY_MS = 86_400_000

/** GET /api/v2/me/tokens: my personal tokens, without their secrets. */
export function listTokens({ prisma }: Deps): RequestHandler {
  return async (req, res) => {
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.personToken.findMany({
      where: { person: personOf(res).id, id: { startsWith: PERSONAL, gt: cursor } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(
      mapPage(
        pageOf(rows, limit, ({ id }) => id),
        tokenRecord,
      ),
    )
  }
}

/** POST /api/v2/me/tokens: a token that may do what I may; its secret is shown this once. */
export function createToken(deps: Deps): RequestHandler {
  const { prisma, mint, now } = deps
  return async (req, res) => {
    const person = personOf(res)
    const { name, expiresInDays } = await checkedBody(req, newTokenBody)
    const { secret, hash, prefix } = issueSecret(PERSON_TOKEN_PREFIX, deps)
    const expiresAt = new Date(now().getTime() + expiresInDays * DAY_MS)
    const token = await prisma.$transaction(async (tx) => {
      const data = { id: mint(PERSONAL), person: person.id, name, hash, prefix, createdAt: now(), expiresAt }
      const created = await tx.personToken.create({ data })
      await recordChange(tx, { tenant: null, person: person.id, action: 'token.create', subject: created.id })
      return created
    })
    res.status(201).json({ token: tokenRecord(token), secret })
  }
}

/** DELETE /api/v2/me/tokens/{id} */
export function deleteToken({ prisma }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const id = pathIdOf(req, 'token')
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
