import type { Request, RequestHandler } from 'express'
import type { TokenPermission } from '@gateway/api/console/access-tokens'
import { ACCESS_TOKEN_PREFIX, isWellFormedSecret, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { markAuthenticated } from '@gateway/service-kit/http/connections'
import { sessionCookie } from './open-session.ts'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { User } from './user.ts'
import { hashOf } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl'>
type Client = Deps['prisma']

/** Admits only authenticated requests: by personal token, session cookie, or token of an organization or project. */
export function authenticate(deps: Deps): RequestHandler {
  return async (req, res, next) => {
    res.locals['user'] = await authenticated(deps, req)
    markAuthenticated(req.socket)
    next()
  }
}

/**
 * Returns the user of a request. Malformed, unknown and expired tokens get the same refusal; a token with a wrong
 * checksum costs no lookup.
 * @throws Refusal `duplicate_header`, `session_missing`, `token_invalid`
 */
export async function authenticated(deps: Deps, req: Request): Promise<User> {
  const bearer = bearerOf(req)
  const secret = bearer ?? sessionCookie(deps).read(req)
  if (secret === null) throw refuse('session_missing', {})
  const user = await userOrProgram(deps.prisma, deps.now(), secret)
  if (user) return user
  throw bearer === null ? refuse('session_missing', {}) : refuse('token_invalid', {})
}

/** Returns the bearer token of a request, or null. */
export function bearerOf(req: Request): string | null {
  const sent = req.headersDistinct['authorization'] ?? []
  if (sent.length > 1) throw refuse('duplicate_header', { header: 'Authorization' })
  if (sent.length === 0) return null
  return /^Bearer +(\S+) *$/i.exec(sent[0]!)?.[1] ?? ''
}

async function userOrProgram(prisma: Client, now: Date, secret: string): Promise<User | null> {
  if (isWellFormedSecret(USER_TOKEN_PREFIX, secret)) return userOfToken(prisma, now, secret)
  return isWellFormedSecret(ACCESS_TOKEN_PREFIX, secret) ? programOfToken(prisma, now, secret) : null
}

async function programOfToken(prisma: Client, now: Date, secret: string): Promise<User | null> {
  const token = await prisma.accessToken.findUnique({ where: { hash: hashOf(secret) } })
  if (!token || token.expiresAt <= now) return null
  const { id, name, tenant, project } = token
  const permissions = token.permissions as TokenPermission[]
  return { id, email: '', name, platformOperator: false, token: { tenant, project, permissions } }
}

async function userOfToken(prisma: Client, now: Date, secret: string): Promise<User | null> {
  const token = await prisma.userToken.findUnique({ where: { hash: hashOf(secret) } })
  if (!token || (token.expiresAt !== null && token.expiresAt <= now)) return null
  return prisma.user.findUnique({
    where: { id: token.user },
    select: { id: true, email: true, name: true, platformOperator: true },
  })
}
