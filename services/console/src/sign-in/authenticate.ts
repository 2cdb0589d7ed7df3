import type { Request, RequestHandler, Response } from 'express'
import type { TokenPermission } from '@gateway/api/console/access-tokens'
import { ACCESS_TOKEN_PREFIX, isWellFormedSecret, SESSION_PREFIX, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { CALLER_HEADER } from '@gateway/service-kit/http/caller-permits'
import { markAuthenticated } from '@gateway/service-kit/http/connections'
import { sessionCookie } from './open-session.ts'
import { Refusal, refuse } from '@gateway/api/refusal'
import type { ConsoleDeps, SessionLimits } from '../deps.ts'
import { permitsOf } from '../request/request-limits.ts'
import type { User } from './user.ts'
import { hashOf } from './secret.ts'

// A session is good in its cookie alone, and a token in the Authorization header alone: a stolen one of either kind
// doesn't work in place of the other.

type Deps = Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl' | 'sessionLimits'>
type Client = Deps['prisma']

type LimitedDeps = Deps & Pick<ConsoleDeps, 'revocationPrisma' | 'requestLimits'>

/** Admits only authenticated requests: by personal token, session cookie, or token of an organization or project. */
export function authenticate(deps: LimitedDeps): RequestHandler {
  const { requestLimits } = deps
  return (req, res, next) => {
    const held = permitsOf(res)
    return held.during(async () => {
      const user = await admitted(deps, req, res)
      markAuthenticated(req.socket)
      res.setHeader(CALLER_HEADER, user.id)
      if (!held.isKnown) held.exchange(requestLimits.accepted(held.asked, user))
      held.party = user.id
      res.locals['user'] = user
      next()
    })
  }
}

/** Replaces the user of an admitted request by what they are now. Throws as `authenticated` does. */
export function authenticateAgain(deps: LimitedDeps): (req: Request, res: Response) => Promise<void> {
  return async (req, res) => {
    res.locals['user'] = await admitted(deps, req, res)
  }
}

async function admitted(deps: LimitedDeps, req: Request, res: Response): Promise<User> {
  const { asked, isKnown } = permitsOf(res)
  const client = asked.revokes && isKnown ? { ...deps, prisma: deps.revocationPrisma } : deps
  return authenticated(client, req).catch((error: unknown) => {
    if (error instanceof Refusal) deps.requestLimits.refused(asked)
    throw error
  })
}

/**
 * Returns the user of a request. Malformed, unknown and expired tokens get the same refusal; a token with a wrong
 * checksum costs no lookup.
 * @throws Refusal `duplicate_header`, `session_missing`, `token_invalid`
 */
export async function authenticated(deps: Deps, req: Request): Promise<User> {
  return authenticatedBy(deps, sentSecret(deps, req))
}

/** The bearer token of a request, or else its session. */
export interface SentSecret {
  /** null: it has neither. */
  secret: string | null
  isBearer: boolean
}

/** @throws Refusal `duplicate_header` */
export function sentSecret({ publicUrl }: Pick<Deps, 'publicUrl'>, req: Request): SentSecret {
  const bearer = bearerOf(req)
  return { secret: bearer ?? sessionCookie({ publicUrl }).read(req), isBearer: bearer !== null }
}

/** @throws Refusal `session_missing`, `token_invalid` */
export async function authenticatedBy(
  { prisma, now, sessionLimits }: Pick<Deps, 'prisma' | 'now' | 'sessionLimits'>,
  { secret, isBearer }: SentSecret,
): Promise<User> {
  const lookUp = isBearer ? userOrProgram : userOfSession
  const user = secret === null ? null : await lookUp({ prisma, at: now(), sessionLimits }, secret)
  if (user) return user
  throw isBearer ? refuse('token_invalid', {}) : refuse('session_missing', {})
}

/** Returns the bearer token of a request, or null. */
export function bearerOf(req: Request): string | null {
  const sent = req.headersDistinct['authorization'] ?? []
  if (sent.length > 1) throw refuse('duplicate_header', { header: 'Authorization' })
  if (sent.length === 0) return null
  return /^Bearer +(\S+) *$/i.exec(sent[0]!)?.[1] ?? ''
}

/** What a credential is looked up with. */
interface LookUp {
  prisma: Client
  at: Date
  sessionLimits: SessionLimits
}

async function userOrProgram({ prisma, at }: LookUp, secret: string): Promise<User | null> {
  if (isWellFormedSecret(USER_TOKEN_PREFIX, secret)) return userOfToken(prisma, at, secret)
  return isWellFormedSecret(ACCESS_TOKEN_PREFIX, secret) ? programOfToken(prisma, at, secret) : null
}

async function programOfToken(prisma: Client, now: Date, secret: string): Promise<User | null> {
  const token = await prisma.accessToken.findUnique({ where: { hash: hashOf(secret) } })
  if (!token || token.expiresAt <= now) return null
  const { id, name, tenant, project } = token
  const permissions = token.permissions as TokenPermission[]
  return { id, email: '', name, platformOperator: false, secondFactor: true, token: { tenant, project, permissions } }
}

async function userOfToken(prisma: Client, now: Date, secret: string): Promise<User | null> {
  const token = await prisma.userToken.findUnique({ where: { hash: hashOf(secret) } })
  if (!token || token.expiresAt <= now) return null
  const user = await enabledUser(prisma, token.user)
  if (!user) return null
  const { id, scopes, expiresAt, secondFactor } = token
  const platformOperator = user.platformOperator && scopes.includes('operator')
  return { ...user, platformOperator, secondFactor, personal: { id, scopes, expiresAt } }
}

/** A use is noted at most once a minute, or ten times in the time after which an unused session ends. */
const NOTED_EVERY_MS = 60_000

async function userOfSession({ prisma, at, sessionLimits }: LookUp, secret: string): Promise<User | null> {
  if (!isWellFormedSecret(SESSION_PREFIX, secret)) return null
  const session = await prisma.session.findUnique({ where: { hash: hashOf(secret) } })
  if (!session || session.expiresAt <= at) return null
  const { id, lastUsedAt, secondFactor } = session
  const unusedMs = at.getTime() - lastUsedAt.getTime()
  if (unusedMs >= sessionLimits.idleMs) return null
  const user = await enabledUser(prisma, session.user)
  if (!user) return null
  if (unusedMs >= Math.min(NOTED_EVERY_MS, sessionLimits.idleMs / 10))
    await prisma.session.updateMany({ where: { id, lastUsedAt }, data: { lastUsedAt: at } })
  return { ...user, secondFactor, session: id }
}

function enabledUser(prisma: Client, id: string) {
  return prisma.user.findUnique({
    where: { id, disabledAt: null },
    select: { id: true, email: true, name: true, platformOperator: true },
  })
}
