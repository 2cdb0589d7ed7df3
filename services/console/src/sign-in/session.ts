import type { RequestHandler } from 'express'
import { signInBody } from '@gateway/contracts/console/sign-in'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody } from '../receive/check.ts'
import { authenticated } from './authenticate.ts'
import { meOf } from './me.ts'
import { giveSession, openSession } from './open-session.ts'
import type { Passwords } from './password.ts'
import { hashOf } from './secret.ts'
import type { Cookie } from './session-cookie.ts'
import type { Throttle } from './throttle.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'mint' | 'random' | 'now'> & {
  throttle: Throttle
  passwords: Passwords
  session: Cookie
}

/** POST /api/v2/session: sign in by e-mail and password; the session is a cookie of twelve hours. */
export function signIn(deps: Deps): RequestHandler {
  const { prisma, throttle, passwords, session } = deps
  return async (req, res) => {
    const { email, password } = await checkedBody(req, signInBody)
    const address = req.ip ?? ''
    await throttle.attempt(email, address)
    const person = await prisma.person.findUnique({ where: { email } })
    const fits = await passwords.fits(password, person?.passwordHash ?? null)
    if (!fits || !person) throw refuse('sign_in_failed', {})
    await throttle.succeeded(email, address)

    const secret = await prisma.$transaction(async (tx) => {
      // The password may have been changed meanwhile, which ends all sessions: none on the old one may follow.
      const same = await tx.$queryRaw<unknown[]>`
        SELECT FROM control.people WHERE id = ${person.id} AND password_hash = ${person.passwordHash} FOR SHARE`
      if (same.length === 0) throw refuse('sign_in_failed', {})
      return openSession(deps, tx, person.id, { by: 'password' })
    })
    giveSession(session, req, res, secret)
    res.status(201).json(await meOf(deps, person))
  }
}

/** DELETE /api/v2/session: sign out. */
export function signOut(deps: Pick<Deps, 'prisma' | 'now' | 'session'>): RequestHandler {
  const { prisma, session } = deps
  return async (req, res) => {
    const person = await authenticated(deps, req)
    const secret = session.read(req)
    const open = secret === null ? null : await prisma.personToken.findUnique({ where: { hash: hashOf(secret) } })
    if (!open || open.person !== person.id) throw refuse('session_missing', {})
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.personToken.deleteMany({ where: { id: open.id } })
      if (count === 0) return // signed out at the same moment
      await recordChange(tx, { tenant: null, person: person.id, action: 'session.delete', subject: open.id })
    })
    session.clear(req, res)
    res.status(204).end()
  }
}
