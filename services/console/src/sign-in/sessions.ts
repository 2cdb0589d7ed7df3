import type { SessionRecord } from '@gateway/api/console/second-factor'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { projectsOfKeys } from '../keys/list-keys.ts'
import { passBarrier } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { endCredentials } from './end-credentials.ts'
import { SESSION, sessionCookie } from './open-session.ts'
import { onlyUserOf } from './user.ts'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'
import { authenticated } from './authenticate.ts'
import { meOf } from './me.ts'
import { beginSession, giveResult } from './complete-sign-in.ts'
import { knownDevice } from './known-devices.ts'
import { tryPassword } from './password.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl' | 'sessionLimits'>

/** GET /api/v2/me/sessions: sessions of the user that have not ended. */
export function listSessions({ prisma, now, sessionLimits }: Deps): Handler<'listSessions'> {
  return async (call, res) => {
    const { id: user, session } = onlyUserOf(res)
    const { cursor, limit } = call.query()
    const rows = await prisma.session.findMany({
      where: {
        user,
        id: idsAfter(cursor, `${SESSION}_`),
        expiresAt: { gt: now() },
        lastUsedAt: { gt: new Date(now().getTime() - sessionLimits.idleMs) },
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const records = rows.map(({ id, method, secondFactor, address, device, ...times }): SessionRecord => {
      const { createdAt, lastUsedAt, expiresAt } = times
      return {
        id,
        method: method as SessionRecord['method'],
        secondFactor,
        address,
        device,
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
        current: id === session,
      }
    })
    res.json(pageOf(records, limit, ({ id }) => id))
  }
}

/** DELETE /api/v2/me/sessions/{id} */
export function endSession({ prisma }: Deps): Handler<'endSession'> {
  return async (call, res) => {
    const { id: user } = onlyUserOf(res)
    const id = call.id('session')
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.session.deleteMany({ where: { id, user } })
      if (count === 0) throw refuse('not_found', {})
      await recordChange(tx, { tenant: null, user, action: 'session.delete', subject: id })
    })
    res.status(204).end()
  }
}

/** DELETE /api/v2/me/sessions: sign out everywhere. Repeating it after another sign-in passes the barrier again. */
export function signOutEverywhere(
  deps: Pick<ConsoleDeps, 'prisma' | 'publicUrl' | 'ledger'>,
): Handler<'signOutEverywhere'> {
  return async (call, res) => {
    const { id: user } = onlyUserOf(res)
    const projects = await deps.prisma.$transaction(async (tx) => {
      await recordChange(tx, { tenant: null, user, action: 'user.sign-out', subject: user })
      return endCredentials(tx, user)
    })
    sessionCookie(deps).clear(call.req, res)
    const made = { createdBy: user, madeWith: { not: null } }
    await passBarrier(deps, [...projects, ...(await projectsOfKeys(deps, made))])
    res.status(204).end()
  }
}

/** Deletes sessions and tickets that have ended. Returns the number. */
export async function forgetSessions({ prisma, now, sessionLimits }: Omit<Deps, 'publicUrl'>): Promise<number> {
  const ended = [{ expiresAt: { lt: now() } }, { lastUsedAt: { lt: new Date(now().getTime() - sessionLimits.idleMs) } }]
  const sessions = await prisma.session.deleteMany({ where: { OR: ended } })
  const tickets = await prisma.signInTicket.deleteMany({ where: { expiresAt: { lt: now() } } })
  return sessions.count + tickets.count
}

type SignInDeps = Pick<
  ConsoleDeps,
  'prisma' | 'newId' | 'random' | 'now' | 'throttle' | 'passwords' | 'publicUrl' | 'traceUrl' | 'sessionLimits'
>

/** POST /api/v2/session: sign in by email and password. Opens a session, or a ticket for the second factor. */
export function signIn(deps: SignInDeps): Handler<'signIn'> {
  const { prisma, throttle, passwords } = deps
  return async (call, res) => {
    const { email, password } = await call.body()
    const address = call.req.ip ?? ''
    const user = await prisma.user.findUnique({ where: { email } })
    const device = await knownDevice(deps, call.req, user?.id)
    const attempt = await throttle.attempt({ email, address, device })
    const guesser = { address, user: email }
    const fits = await tryPassword(passwords, attempt, guesser, password, user?.passwordHash ?? null)
    if (!fits || !user) {
      await countFailedSignIn(deps, user?.id ?? null)
      throw refuse('sign_in_failed', {})
    }
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
export function signOut(deps: Pick<SignInDeps, 'prisma' | 'now' | 'publicUrl' | 'sessionLimits'>): Handler<'signOut'> {
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
