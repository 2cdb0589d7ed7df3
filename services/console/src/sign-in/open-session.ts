import type { Request, Response } from 'express'
import type { Prisma } from '@gateway/database/client'
import { USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'newId' | 'random' | 'now'>

const LIFETIME_MS = 12 * 3_600_000
/** A session is a token whose id starts with `ses_`; personal tokens start with `tok_`. */
export const SESSION = 'ses'

/**
 * Opens a session of twelve hours, audits it, and returns its secret.
 * @param how sign-in method for the audit, such as `{ by: 'password' }`
 */
export async function openSession(
  deps: Deps,
  tx: Transaction,
  user: string,
  how: Prisma.InputJsonObject,
): Promise<string> {
  const { secret, hash, prefix } = issueSecret(USER_TOKEN_PREFIX, deps)
  const [id, now] = [deps.newId(SESSION), deps.now()]
  const expiresAt = new Date(now.getTime() + LIFETIME_MS)
  await tx.userToken.deleteMany({ where: { user, id: { startsWith: SESSION }, expiresAt: { lt: now } } })
  await tx.userToken.create({ data: { id, user, name: 'session', hash, prefix, createdAt: now, expiresAt } })
  await recordChange(tx, { tenant: null, user, action: 'session.create', subject: id, details: how })
  return secret
}

/** Sets the session cookie. */
export function giveSession(deps: Pick<ConsoleDeps, 'publicUrl'>, req: Request, res: Response, secret: string): void {
  sessionCookie(deps).set(req, res, secret, LIFETIME_MS)
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
