import type { LeftKind, RemovalRecord } from '@gateway/api/console/users'
import { recordChanges, type Transaction } from '../audit/record-change.ts'
import type { User } from '../sign-in/user.ts'
import { noteFormerOwners } from '../projects/appointments.ts'

// What ends when a member is removed, all in one transaction:
//   E1  Their roles in teams and projects end, so adding them again restores nothing.
//   E2  Keys, service tokens and webhooks that they made belong to the project or organization. They end where the Admin
//       asks for it, and the answer counts what lives on.

interface Leaver {
  tenant: string
  user: string
}

/** E1. Returns the roles, for the audit. */
export async function endRoles(tx: Transaction, { tenant, user }: Leaver) {
  const [projects, teams] = await Promise.all([
    tx.project.findMany({ where: { tenant }, select: { id: true } }),
    tx.team.findMany({ where: { tenant }, select: { id: true } }),
  ])
  const ofProjects = { user, project: { in: projects.map(({ id }) => id) } }
  const inTeams = { user, team: { in: teams.map(({ id }) => id) } }
  const grants = await tx.projectGrant.findMany({
    where: ofProjects,
    select: { project: true, user: true, role: true },
  })
  const roles = await tx.teamMember.findMany({ where: inTeams, select: { team: true, role: true } })
  await noteFormerOwners(tx, grants)
  await tx.projectGrant.deleteMany({ where: ofProjects })
  await tx.teamMember.deleteMany({ where: inTeams })
  return { grants: grants.map(({ project, role }) => ({ project, role })), teams: roles }
}

/** E2 */
export async function endMade(
  tx: Transaction,
  by: User,
  leaver: Leaver,
  end: ReadonlySet<LeftKind>,
): Promise<RemovalRecord> {
  const ended = {
    keys: end.has('keys') ? await endKeys(tx, by, leaver) : 0,
    tokens: end.has('tokens') ? await endTokens(tx, by, leaver) : 0,
    webhooks: end.has('webhooks') ? await endWebhooks(tx, by, leaver) : 0,
  }
  return { ended, left: await countMade(tx, leaver) }
}

async function endKeys(tx: Transaction, by: User, { tenant, user }: Leaver): Promise<number> {
  const keys = await tx.$queryRaw<{ id: string }[]>`
    UPDATE control.keys SET revoked_at = now()
     WHERE tenant = ${tenant} AND created_by = ${user} AND revoked_at IS NULL AND expires_at > now()
       AND (rotated_to IS NULL OR grace_until > now())
    RETURNING id`
  const changed = keys.map(({ id }) => ({ subject: id, details: { leaver: user } }))
  await recordChanges(tx, { tenant, user: by.id, action: 'key.revoke' }, changed)
  return keys.length
}

async function endTokens(tx: Transaction, by: User, { tenant, user }: Leaver): Promise<number> {
  const made = { tenant, createdBy: user }
  const tokens = await tx.accessToken.findMany({ where: made, select: { id: true, project: true } })
  await tx.accessToken.deleteMany({ where: made })
  const changed = tokens.map(({ id, project }) => ({ subject: id, details: { project, leaver: user } }))
  await recordChanges(tx, { tenant, user: by.id, action: 'access-token.delete' }, changed)
  return tokens.length
}

async function endWebhooks(tx: Transaction, by: User, { tenant, user }: Leaver): Promise<number> {
  const [ended] = await tx.$queryRaw<{ ids: string[]; projects: string[] }[]>`
    SELECT ids, projects FROM control.end_webhooks(${tenant}, ${user})`
  const changed = ended!.ids.map((id, n) => ({ subject: id, details: { project: ended!.projects[n]!, leaver: user } }))
  await recordChanges(tx, { tenant, user: by.id, action: 'webhook.delete' }, changed)
  return ended!.ids.length
}

async function countMade(tx: Transaction, { tenant, user }: Leaver): Promise<RemovalRecord['left']> {
  const [left] = await tx.$queryRaw<RemovalRecord['left'][]>`
    SELECT (SELECT count(*)::int FROM control.keys
             WHERE tenant = ${tenant} AND created_by = ${user} AND revoked_at IS NULL AND expires_at > now()
               AND (rotated_to IS NULL OR grace_until > now())) AS keys,
           (SELECT count(*)::int FROM control.access_tokens
             WHERE tenant = ${tenant} AND created_by = ${user} AND expires_at > now()) AS tokens,
           (SELECT count(*)::int FROM money.webhooks w JOIN control.projects p ON p.id = w.project
             WHERE p.tenant = ${tenant} AND w.created_by = ${user} AND w.kind <> 'email') AS webhooks`
  return left!
}
