import type { RequestHandler } from 'express'
import { signInBody } from '@gateway/contracts/console'
import { PERSON_TOKEN_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleNeeds } from '../needs.ts'
import { checkedBody } from '../receive/check.ts'
import { authenticated } from './authenticate.ts'
import { meOf } from './me.ts'
import { passwordFits } from './password.ts'
import { hashOf, issueSecret } from './secret.ts'
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from './session-cookie.ts'
import type { Throttle } from './throttle.ts'

type Needs = Pick<ConsoleNeeds, 'prisma' | 'mint' | 'random' | 'now'> & { throttle: Throttle }

const LIFETIME_MS = 12 * 3_600_000
/** A session is a token whose id starts with `ses_`; personal tokens start with `tok_`. */
const SESSION = 'ses'

/** POST /api/v2/session: sign in by e-mail and password; the session is a cookie of twelve hours. */
export function signIn(needs: Needs): RequestHandler {
  const { prisma, mint, now, throttle } = needs
  return async (req, res) => {
    const { email, password } = await checkedBody(req, signInBody)
    const address = req.ip ?? ''
    await throttle.attempt(email, address)
    const person = await prisma.person.findUnique({ where: { email } })
    if (!(await passwordFits(password, person?.passwordHash ?? null)) || !person) throw refuse('sign_in_failed', {})
    await throttle.succeeded(email, address)

    const { secret, hash, prefix } = issueSecret(PERSON_TOKEN_PREFIX, needs)
    const id = mint(SESSION)
    const expiresAt = new Date(now().getTime() + LIFETIME_MS)
    await prisma.$transaction(async (tx) => {
      await tx.personToken.deleteMany({
        where: { person: person.id, id: { startsWith: SESSION }, expiresAt: { lt: now() } },
      })
      await tx.personToken.create({ data: { id, person: person.id, name: 'session', hash, prefix, expiresAt } })
      await recordChange(tx, { tenant: null, person: person.id, action: 'session.create', subject: id })
    })
    setSessionCookie(req, res, secret, LIFETIME_MS)
    res.status(201).json(await meOf(needs, person))
  }
}

/** DELETE /api/v2/session: sign out. */
export function signOut(needs: Needs): RequestHandler {
  const { prisma } = needs
  return async (req, res) => {
    const person = await authenticated(needs, req)
    const secret = sessionCookieOf(req)
    const session = secret === null ? null : await prisma.personToken.findUnique({ where: { hash: hashOf(secret) } })
    if (!session || session.person !== person.id) throw refuse('session_missing', {})
    await prisma.$transaction(async (tx) => {
      await tx.personToken.deleteMany({ where: { id: session.id } })
      await recordChange(tx, { tenant: null, person: person.id, action: 'session.delete', subject: session.id })
    })
    clearSessionCookie(req, res)
    res.status(204).end()
  }
}
