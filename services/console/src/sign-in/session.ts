import { refuse } from '@gateway/api/refusal'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { authenticated } from './authenticate.ts'
import { meOf } from './me.ts'
import { beginSession, giveResult } from './complete-sign-in.ts'
import { knownDevice } from './known-devices.ts'
import { sessionCookie } from './open-session.ts'
import { addressBlock } from '@gateway/service-kit/http/address-block'

type Deps = Pick<
  ConsoleDeps,
  'prisma' | 'newId' | 'random' | 'now' | 'throttle' | 'passwords' | 'publicUrl' | 'traceUrl' | 'sessionLimits'
>

/** POST /api/v2/session: sign in by email and password. Opens a session, or a ticket for the second factor. */
export function signIn(deps: Deps): Handler<'signIn'> {
  const { prisma, throttle, passwords } = deps
  return async (call, res) => {
    const { email, password } = await call.body()
    const address = call.req.ip ?? ''
    const user = await prisma.user.findUnique({ where: { email } })
    const device = await knownDevice(deps, call.req, user?.id)
    const attempt = await throttle.attempt({ email, address, device })
    const turn = [attempt.rank, addressBlock(address), email] as const
    const fits = await passwords.fits(turn, password, user?.passwordHash ?? null)
    if (!fits || !user) {
      await countFailedSignIn(deps, user?.id ?? null)
      throw refuse('sign_in_failed', {})
    }
    await attempt.succeeded()

    const result = await prisma.$transaction(async (tx) => {
      // The password may have changed in the meantime, which ends all sessions: no session may follow from the old one.
      const same = await tx.$queryRaw<unknown[]>`
        SELECT FROM control.users WHERE id = ${user.id} AND password_hash = ${user.passwordHash} FOR SHARE`
      if (same.length === 0) throw refuse('sign_in_failed', {})
      const signedIn = { user: user.id, req: call.req, method: 'password', secondFactor: false } as const
      return beginSession(deps, tx, signedIn, { by: 'password' })
    })
    giveResult(deps, call.req, res, result)
    if ('session' in result) res.status(201).json(await meOf(deps, { ...user, secondFactor: false }))
    else res.status(202).json({ secondFactor: 'required', expiresAt: result.expiresAt.toISOString() })
  }
}

/** DELETE /api/v2/session: sign out. */
export function signOut(deps: Pick<Deps, 'prisma' | 'now' | 'publicUrl' | 'sessionLimits'>): Handler<'signOut'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = await authenticated(deps, call.req)
    if (user.session === undefined) throw refuse('session_required', {})
    const id = user.session
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.session.deleteMany({ where: { id } })
      if (count === 0) return // signed out concurrently
      await recordChange(tx, { tenant: null, user: user.id, action: 'session.delete', subject: id })
    })
    sessionCookie(deps).clear(call.req, res)
    res.status(204).end()
  }
}
