import type { AuditAction } from '@gateway/api/console/audit'
import type { Prisma } from '@gateway/database/client'
import { recordChanges, type Transaction } from '../audit/record-change.ts'

interface Ending {
  /** Who ends them. Default: the user. */
  by?: string
  /** Session that stays. */
  session?: string | undefined
  /** Personal token that stays. */
  token?: string | undefined
  /** Whether all personal tokens stay. */
  allTokens?: boolean
}

/**
 * Ends everything by which a user is signed in: sessions, half-finished sign-ins, sign-in codes, reset links and personal
 * tokens, with what these made. All are refused from the next request on. Forgets the devices too (known-devices.ts).
 * Returns the projects that must pass the barrier after the commit, because keys of them ended.
 *
 * It locks the user, so a sign-in that has begun waits (`requireEnabled`), and finds what ended it.
 * What is created concurrently from something that ends here ends too, by the order of the statements: a ticket becomes
 * a session, a session confirms a code or creates a token, a code becomes a token. Each of these transactions locks what
 * it starts from, so the statement that ends it waits, and a later statement sees the result.
 */
export async function endCredentials(
  tx: Transaction,
  user: string,
  { by = user, session, token, allTokens = false }: Ending = {},
): Promise<string[]> {
  await lockUser(tx, user)
  await tx.passwordReset.deleteMany({ where: { user } })
  await tx.knownDevice.deleteMany({ where: { user } })
  await tx.signInTicket.deleteMany({ where: { user } })
  await tx.session.deleteMany({ where: { user, ...(session !== undefined && { id: { not: session } }) } })
  await tx.signInCode.deleteMany({ where: { user } })
  if (allTokens) return []
  const tokens = { user, ...(token !== undefined && { id: { not: token } }) }
  return (await endPersonalTokens(tx, tokens, { by })).projects
}

/**
 * Locks a user. What changes how they are signed in does this before it locks a factor, ticket or session: two such
 * changes then wait for one another, and never in a circle.
 */
export async function lockUser(tx: Transaction, user: string): Promise<void> {
  await tx.$queryRaw`SELECT FROM control.users WHERE id = ${user} FOR NO KEY UPDATE`
}

/** Deletes a second factor. What was signed in with it counts as signed in without one. */
export async function deleteSecondFactor(tx: Transaction, user: string): Promise<boolean> {
  await lockUser(tx, user)
  const { count } = await tx.secondFactor.deleteMany({ where: { user } })
  await tx.recoveryCode.deleteMany({ where: { user } })
  await tx.signInTicket.deleteMany({ where: { user } })
  await tx.session.updateMany({ where: { user }, data: { secondFactor: false } })
  await tx.signInCode.deleteMany({ where: { user } })
  await tx.userToken.updateMany({ where: { user }, data: { secondFactor: false } })
  return count > 0
}

/**
 * Deletes personal tokens, and ends the keys, service tokens and invitations that were made with them.
 *
 * The tokens come first: what is created with one at the same time has locked it (`lockToken`), so this waits for it,
 * and a later statement sees it.
 * @param by null: no one who is signed in
 * @returns the deleted tokens, and the projects of ended keys, which must pass the barrier after the commit
 */
export async function endPersonalTokens(
  tx: Transaction,
  where: Prisma.UserTokenWhereInput,
  { by }: { by: string | null },
): Promise<{ ids: string[]; projects: string[] }> {
  const found = await tx.userToken.findMany({ where, select: { id: true } })
  const deleted = await tx.$queryRaw<{ id: string }[]>`
    DELETE FROM control.user_tokens WHERE id = ANY (${found.map(({ id }) => id)}::text[]) RETURNING id`
  const ids = deleted.map(({ id }) => id)
  return { ids, projects: ids.length === 0 ? [] : await endMadeWith(tx, ids, by) }
}

type Ended = { id: string; tenant: string; madeWith: string }

/** Revokes the keys that a user could revoke (`canBeRevoked`), and deletes the rest. Returns the projects of the keys. */
async function endMadeWith(tx: Transaction, tokens: string[], by: string | null): Promise<string[]> {
  const invitations = await tx.$queryRaw<(Ended & { email: string })[]>`
    DELETE FROM control.invitations WHERE made_with = ANY (${tokens}::text[])
    RETURNING id, tenant, email, made_with AS "madeWith"`
  const keys = await tx.$queryRaw<(Ended & { project: string })[]>`
    UPDATE control.keys SET revoked_at = clock_timestamp()
     WHERE made_with = ANY (${tokens}::text[]) AND revoked_at IS NULL AND (rotated_to IS NULL OR grace_until IS NOT NULL)
    RETURNING id, tenant, project, made_with AS "madeWith"`
  const services = await tx.$queryRaw<(Ended & { project: string | null })[]>`
    DELETE FROM control.access_tokens WHERE made_with = ANY (${tokens}::text[])
    RETURNING id, tenant, project, made_with AS "madeWith"`
  const record = async (action: AuditAction, ended: (Ended & Prisma.InputJsonObject)[]) => {
    for (const [tenant, rows] of Map.groupBy(ended, (row) => row.tenant)) {
      const changed = rows.map(({ id, tenant: _, ...details }) => ({ subject: id, details }))
      await recordChanges(tx, { tenant, user: by, action }, changed)
    }
  }
  await record('invitation.revoke', invitations)
  await record('key.revoke', keys)
  await record('access-token.delete', services)
  return keys.map(({ project }) => project)
}
