import type { Request, Response } from 'express'
import type { Prisma } from '@gateway/database/client'
import { PERSON_TOKEN_PREFIX } from '@gateway/contracts/key-secret'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { issueSecret } from './secret.ts'
import { sessionCookie } from './session-cookie.ts'

type Deps = Pick<ConsoleDeps, 'newId' | 'random' | 'now'>

const LIFETIME_MS = 12 * 3_600_000
/** A session is a token whose id starts with `ses_`; personal tokens start with `tok_`. */
export const SESSION = 'ses'

/**
 * Records a session of twelve hours, with what led to it, and answers its secret.
 * @param how for the audit, such as `{ by: 'password' }`
 */
export async function openSession(
  deps: Deps,
  tx: Transaction,
  person: string,
  how: Prisma.InputJsonObject,
): Promise<string> {
  const { secret, hash, prefix } = issueSecret(PERSON_TOKEN_PREFIX, deps)
  const [id, now] = [deps.newId(SESSION), deps.now()]
  const expiresAt = new Date(now.getTime() + LIFETIME_MS)
  await tx.personToken.deleteMany({ where: { person, id: { startsWith: SESSION }, expiresAt: { lt: now } } })
  await tx.personToken.create({ data: { id, person, name: 'session', hash, prefix, createdAt: now, expiresAt } })
  await recordChange(tx, { tenant: null, person, action: 'session.create', subject: id, details: how })
  return secret
}

/** Hands the browser the session that was opened. */
export function giveSession(deps: Pick<ConsoleDeps, 'publicUrl'>, req: Request, res: Response, secret: string): void {
  sessionCookie(deps).set(req, res, secret, LIFETIME_MS)
}
