import type { Request, Response } from 'express'
import type { Prisma } from '@gateway/database/client'
import { SESSION_PREFIX } from '@gateway/api/ids'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { cookie } from './cookie.ts'
import { giveDevice, rememberDevice } from './known-devices.ts'
import { issueSecret } from './secret.ts'

type Deps = Pick<ConsoleDeps, 'newId' | 'random' | 'now' | 'publicUrl' | 'sessionLimits'>

/** Prefix of the ids of sessions. */
export const SESSION = 'ses'
const MAX_DEVICE = 200

export interface SignedIn {
  method: 'password' | 'provider'
  secondFactor: boolean
}

/** Secrets for the cookies of a browser that has signed in. */
export interface Opened {
  session: string
  device: string
}

/**
 * Opens a session, audits it, and remembers the device.
 * @param how sign-in method for the audit, such as `{ by: 'password' }`
 * @throws Refusal `sign_in_failed` for a disabled user
 */
export async function openSession(
  deps: Deps,
  tx: Transaction,
  { user, req, ...signedIn }: SignedIn & { user: string; req: Request },
  how: Prisma.InputJsonObject,
): Promise<Opened> {
  await requireEnabled(tx, user)
  const { secret, hash } = issueSecret(SESSION_PREFIX, deps)
  const [id, now] = [deps.newId(SESSION), deps.now()]
  const expiresAt = new Date(now.getTime() + deps.sessionLimits.maxMs)
  const device = (req.get('User-Agent') ?? '').slice(0, MAX_DEVICE)
  const times = { createdAt: now, lastUsedAt: now, expiresAt }
  await tx.session.create({ data: { id, user, hash, ...signedIn, address: req.ip ?? '', device, ...times } })
  await recordChange(tx, { tenant: null, user, action: 'session.create', subject: id, details: how })
  return { session: secret, device: await rememberDevice(deps, tx, req, user) }
}

/** Locks the user, so that disabling them waits for what is about to be created, and ends it. */
export async function requireEnabled(tx: Transaction, user: string): Promise<void> {
  const enabled = await tx.$queryRaw<unknown[]>`
    SELECT FROM control.users WHERE id = ${user} AND disabled_at IS NULL FOR SHARE`
  if (enabled.length === 0) throw refuse('sign_in_failed', {})
}

/** Sets the cookies of the session and the device. */
export function giveSession(
  deps: Pick<ConsoleDeps, 'publicUrl' | 'sessionLimits'>,
  req: Request,
  res: Response,
  { session, device }: Opened,
): void {
  sessionCookie(deps).set(req, res, session, deps.sessionLimits.maxMs)
  giveDevice(deps, req, res, device)
}

/**
 * Session cookie. `Strict` is possible because the page itself needs no cookie: a link from another site opens it
 * without the cookie, and the requests that the page then sends carry it.
 */
export const sessionCookie = ({ publicUrl }: Pick<ConsoleDeps, 'publicUrl'>) =>
  cookie('svc_session', 'strict', publicUrl)
