import { leakedSecretsBody, type LeakedSecret } from '@gateway/api/console/keys'
import { consoleRoutes } from '@gateway/api/console-routes'
import { MAX_LOCATION } from '@gateway/api/console/notices'
import { parseJson } from '@gateway/service-kit/http/read-body'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { addNotice } from '../notices/mail-notices.ts'
import { passBarrier } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { check } from '../request/check.ts'
import { bodyOf } from '../request/receive-first.ts'
import { endPersonalTokens } from '../sign-in/end-credentials.ts'
import { hashOf } from '../sign-in/secret.ts'
import { projectsOfKeys } from './list-keys.ts'
import { canBeRevoked, databaseNow } from './key-record.ts'

// Reports of leaked secrets, by scanners and anyone else (rules §6.13). No one signs in:
//   L1  A caller who has a secret could use it, so they may end it. A secret that isn't reported whole changes nothing.
//   L2  Each report asks the same questions of the database and gets the same answer, whether its secrets are known,
//       ended, malformed, or foreign. What a caller could learn from the time it takes, they could learn by using the
//       secret, and here it is ended by asking.
//   L3  The report returns after the barrier, so a key is refused from then on, as after a revocation. For the keys that
//       a personal token made, a report waits only if it still finds the token.
//   L4  Where a secret was found is text from a stranger: it is cut, stored, and shown, and never opened.
//   L5  A key that was rotated without grace is not revoked: its replacement works on, and its owner gets a notice,
//       because a thief of the secret may have rotated it.

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'leakReports' | 'log'>
type Found = { location?: string; source?: string }
type Row<T extends 'key' | 'userToken' | 'accessToken' | 'session'> = NonNullable<
  Awaited<ReturnType<ConsoleDeps['prisma'][T]['findFirst']>>
>

/** POST /api/v2/leaked-secrets: revokes keys and deletes tokens that were found in public. */
export function reportLeakedSecrets(deps: Deps): Handler<'reportLeakedSecrets'> {
  const { prisma } = deps
  return async (call, res) => {
    deps.leakReports.admit(call.req.ip ?? '')
    const body = check(
      leakedSecretsBody,
      parseJson(await bodyOf(call.req, consoleRoutes.reportLeakedSecrets.maxBodyBytes)),
    )
    const reports = Array.isArray(body) ? body : [body]
    const placeOf = new Map(reports.map((report) => [nameOf(hashOf(report.token.trim())), foundAt(report)]))
    const hash = { in: reports.map(({ token }) => hashOf(token.trim())) }
    const [keys, userTokens, accessTokens, sessions] = await Promise.all([
      prisma.key.findMany({ where: { hash, project: { not: null } } }), // a legacy key is never revoked unasked
      prisma.userToken.findMany({ where: { hash } }),
      prisma.accessToken.findMany({ where: { hash } }),
      prisma.session.findMany({ where: { hash } }),
    ])
    for (const key of keys) await endKey(deps, key, placeOf.get(nameOf(key.hash)) ?? {})
    for (const token of userTokens) await endUserToken(deps, token, placeOf.get(nameOf(token.hash)) ?? {})
    for (const token of accessTokens) await endAccessToken(deps, token, placeOf.get(nameOf(token.hash)) ?? {})
    for (const session of sessions) await endLeakedSession(deps, session, placeOf.get(nameOf(session.hash)) ?? {})
    const ids = { in: keys.map(({ id }) => id) }
    const tokens = { in: userTokens.map(({ id }) => id) }
    await passBarrier(deps, await projectsOfKeys(deps, { OR: [{ id: ids }, { madeWith: tokens }] })) // L3
    res.json({ received: reports.length })
  }
}

async function endKey({ prisma, newId, log }: Deps, { id }: Row<'key'>, found: Found): Promise<void> {
  await prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT FROM control.keys WHERE id = ${id} FOR UPDATE`
    const key = await tx.key.findUnique({ where: { id } })
    if (!key || key.project === null || key.revokedAt !== null) return
    const now = await databaseNow(tx)
    const { tenant, project, rotatedTo } = key
    const works = canBeRevoked(key)
    if (!works && rotatedTo === null) return
    const notice = { project, kind: 'key.leaked', key: id } as const
    const details = { ...found, ...(rotatedTo !== null && { replacement: rotatedTo }) }
    if (works) {
      log.warn({ key: id, tenant }, 'leaked key revoked')
      await tx.key.update({ where: { id }, data: { revokedAt: now } })
      await recordChange(tx, { tenant, user: null, action: 'key.leak', subject: id, details })
      await addNotice(tx, { ...notice, id: newId('ntc'), details })
    } else {
      await addNotice(tx, { ...notice, id: `ntc_${id}`, details }) // L5, once
    }
  })
}

/**
 * A personal token, with what it made. Its user, the Admins of the user's organizations and the operators see the audit
 * row.
 */
async function endUserToken({ prisma }: Deps, { id, user }: Row<'userToken'>, found: Found): Promise<void> {
  await prisma.$transaction(async (tx) => {
    const { ids } = await endPersonalTokens(tx, { id }, { by: null })
    if (ids.length === 0) return // ended concurrently
    const what = { action: 'token.leak' as const, subject: id, details: { user, ...found } }
    await recordChange(tx, { tenant: null, user: null, of: user, ...what })
  })
}

async function endLeakedSession({ prisma }: Deps, { id, user }: Row<'session'>, found: Found): Promise<void> {
  await prisma.$transaction(async (tx) => {
    const { count } = await tx.session.deleteMany({ where: { id } })
    if (count === 0) return // ended concurrently
    const what = { action: 'session.leak' as const, subject: id, details: { user, ...found } }
    await recordChange(tx, { tenant: null, user: null, of: user, ...what })
  })
}

/** A token of an organization or a project. The notice goes to the project; Admins see the audit row. */
async function endAccessToken({ prisma, newId }: Deps, token: Row<'accessToken'>, found: Found): Promise<void> {
  const { id, tenant, project, name } = token
  await prisma.$transaction(async (tx) => {
    const { count } = await tx.accessToken.deleteMany({ where: { id } })
    if (count === 0) return // ended concurrently
    const details = { name, project, ...found }
    await recordChange(tx, { tenant, user: null, action: 'access-token.leak', subject: id, details })
    if (project === null) return
    const notice = { id: newId('ntc'), project, kind: 'token.leaked', key: null } as const
    await addNotice(tx, { ...notice, details: { token: id, ...found } })
  })
}

/** L4: without control characters, which could forge a line of a log or a screen. */
function foundAt({ url, source }: LeakedSecret): Found {
  const [location, kind] = [cut(url), cut(source)]
  return { ...(location !== '' && { location }), ...(kind !== '' && { source: kind }) }
}

function cut(text: string | null | undefined): string {
  return (text ?? '')
    .slice(0, MAX_LOCATION)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
}

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64')
}
