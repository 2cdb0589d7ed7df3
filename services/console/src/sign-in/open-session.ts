import type { Request, Response } from 'express'
import type { Prisma } from '@gateway/database/client'
import { SESSION_PREFIX } from '@gateway/api/ids'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'newId' | 'random' | 'now' | 'sessionLimits'>

/** Prefix of the ids of sessions. */
export const SESSION = 'ses'
const MAX_DEVICE = 200

export interface SignedIn {
  method: 'password' | 'provider'
  secondFactor: boolean
}

/**
 * Opens a session, audits it, and returns its secret.
 * @param how sign-in method for the audit, such as `{ by: 'password' }`
 * @throws Refusal `sign_in_failed` for a disabled user
 */
export async function openSession(
  deps: Deps,
  tx: Transaction,
  { user, req, ...signedIn }: SignedIn & { user: string; req: Request },
  how: Prisma.InputJsonObject,
): Promise<string> {
  await requireEnabled(tx, user)
  const { secret, hash } = issueSecret(SESSION_PREFIX, deps)
  const [id, now] = [deps.newId(SESSION), deps.now()]
  const expiresAt = new Date(now.getTime() + deps.sessionLimits.maxMs)
  const device = (req.get('User-Agent') ?? '').slice(0, MAX_DEVICE)
  const times = { createdAt: now, lastUsedAt: now, expiresAt }
  await tx.session.create({ data: { id, user, hash, ...signedIn, address: req.ip ?? '', device, ...times } })
  await recordChange(tx, { tenant: null, user, action: 'session.create', subject: id, details: how })
  return secret
}

/** Locks the user, so that disabling them waits for what is about to be created, and ends it. */
export async function requireEnabled(tx: Transaction, user: string): Promise<void> {
  const enabled = await tx.$queryRaw<unknown[]>`
    SELECT FROM control.users WHERE id = ${user} AND disabled_at IS NULL FOR SHARE`
  if (enabled.length === 0) throw refuse('sign_in_failed', {})
}

/** Sets the session cookie. */
export function giveSession(
  deps: Pick<ConsoleDeps, 'publicUrl' | 'sessionLimits'>,
  req: Request,
  res: Response,
  secret: string,
): void {
  sessionCookie(deps).set(req, res, secret, deps.sessionLimits.maxMs)
}
export interface Cookie {
  set(req: Request, res: Response, value: string, lifetimeMs: number): void
  clear(req: Request, res: Response): void
  /** null: not sent. */
  read(req: Request): string | null
}

/**
 * Session cookie. `Strict` is possible because the page itself needs no cookie: a link from another site opens it
 * without the cookie, and the requests that the page then sends carry it.
 */
export const sessionCookie = ({ publicUrl }: Pick<ConsoleDeps, 'publicUrl'>) =>
  cookie('svc_session', 'strict', publicUrl)

/**
 * Cookie that scripts can't read and only this host receives. Over https it is `Secure` and its name starts with
 * `__Host-`, so no other host under the same domain can replace it.
 */
export function cookie(name: string, sameSite: 'strict' | 'lax', publicUrl: string | undefined): Cookie {
  const isSecure = (req: Request) => (publicUrl === undefined ? req.secure : publicUrl.startsWith('https:'))
  const nameFor = (req: Request) => (isSecure(req) ? `__Host-${name}` : name)
  const attributes = (req: Request) => ({ httpOnly: true, sameSite, path: '/', secure: isSecure(req) })

  return {
    set: (req, res, value, lifetimeMs) =>
      void res.cookie(nameFor(req), value, { ...attributes(req), maxAge: lifetimeMs }),
    clear: (req, res) => void res.clearCookie(nameFor(req), attributes(req)),
    read(req) {
      const wanted = nameFor(req)
      for (const pair of (req.get('Cookie') ?? '').split(';')) {
        const [found, value] = pair.trim().split('=')
        if (found === wanted && value) return value
      }
      return null
    },
  }
}
