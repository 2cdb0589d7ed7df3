import type { SessionRecord } from '@gateway/api/console/second-factor'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { passBarrier } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { endCredentials } from './end-credentials.ts'
import { SESSION, sessionCookie } from './open-session.ts'
import { onlyUserOf } from './user.ts'

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

/** DELETE /api/v2/me/sessions: sign out everywhere. */
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
    await passBarrier(deps, projects)
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
