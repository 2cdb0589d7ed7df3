import type { Request, RequestHandler } from 'express'
import { isWellFormedSecret, PERSON_TOKEN_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Person } from './person.ts'
import { hashOf } from './secret.ts'
import { sessionCookie } from './session-cookie.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl'>

/** Lets only signed-in persons through: by a personal token, or by the cookie of a session. */
export function authenticate(deps: Deps): RequestHandler {
  return async (req, res, next) => {
    res.locals['person'] = await authenticated(deps, req)
    next()
  }
}

/**
 * The person who asks. Malformed, unknown and expired tokens can't be told apart; a wrong checksum costs no look-up.
 * @throws Refusal `duplicate_header`, `session_missing`, `token_invalid`
 */
export async function authenticated(deps: Deps, req: Request): Promise<Person> {
  const bearer = bearerOf(req)
  const secret = bearer ?? sessionCookie(deps).read(req)
  if (secret === null) throw refuse('session_missing', {})
  const person = isWellFormedSecret(PERSON_TOKEN_PREFIX, secret) ? await personOfToken(deps, secret) : null
  if (person) return person
  throw bearer === null ? refuse('session_missing', {}) : refuse('token_invalid', {})
}

/** The bearer token of a request, or null. */
export function bearerOf(req: Request): string | null {
  const sent = req.headersDistinct['authorization'] ?? []
  if (sent.length > 1) throw refuse('duplicate_header', { header: 'Authorization' })
  if (sent.length === 0) return null
  return /^Bearer +(\S+) *$/i.exec(sent[0]!)?.[1] ?? ''
}

async function personOfToken({ prisma, now }: Pick<Deps, 'prisma' | 'now'>, secret: string): Promise<Person | null> {
  const token = await prisma.personToken.findUnique({ where: { hash: hashOf(secret) } })
  if (!token || (token.expiresAt !== null && token.expiresAt <= now())) return null
  return prisma.person.findUnique({
    where: { id: token.person },
    select: { id: true, email: true, name: true, platformOperator: true },
  })
}
