import { refuse } from '@gateway/api/refusal'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { authenticated } from './authenticate.ts'
import { meOf } from './me.ts'
import { giveSession, openSession, sessionCookie } from './open-session.ts'
import { hashOf } from './secret.ts'

type Deps = Pick<
  ConsoleDeps,
  'prisma' | 'newId' | 'random' | 'now' | 'throttle' | 'passwords' | 'publicUrl' | 'traceUrl'
>

/** POST /api/v2/session: sign in by email and password; the session is a cookie of twelve hours. */
export function signIn(deps: Deps): Handler<'signIn'> {
  const { prisma, throttle, passwords } = deps
  return async (call, res) => {
    const { email, password } = await call.body()
    const address = call.req.ip ?? ''
    await throttle.attempt(email, address)
    const user = await prisma.user.findUnique({ where: { email } })
    const fits = await passwords.fits(password, user?.passwordHash ?? null)
    if (!fits || !user) {
      await countFailedSignIn(deps, user?.id ?? null)
      throw refuse('sign_in_failed', {})
    }
    await throttle.succeeded(email, address)

    const secret = await prisma.$transaction(async (tx) => {
      // The password may have changed in the meantime, which ends all sessions: no session may follow from the old one.
      const same = await tx.$queryRaw<unknown[]>`
        SELECT FROM control.users WHERE id = ${user.id} AND password_hash = ${user.passwordHash} FOR SHARE`
      if (same.length === 0) throw refuse('sign_in_failed', {})
      return openSession(deps, tx, user.id, { by: 'password' })
    })
    giveSession(deps, call.req, res, secret)
    res.status(201).json(await meOf(deps, user))
  }
}

/** DELETE /api/v2/session: sign out. */
export function signOut(deps: Pick<Deps, 'prisma' | 'now' | 'publicUrl'>): Handler<'signOut'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = await authenticated(deps, call.req)
    const session = sessionCookie(deps)
    const secret = session.read(call.req)
    const open = secret === null ? null : await prisma.userToken.findUnique({ where: { hash: hashOf(secret) } })
    if (!open || open.user !== user.id) throw refuse('session_missing', {})
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.userToken.deleteMany({ where: { id: open.id } })
      if (count === 0) return // signed out concurrently
      await recordChange(tx, { tenant: null, user: user.id, action: 'session.delete', subject: open.id })
    })
    session.clear(call.req, res)
    res.status(204).end()
  }
}
