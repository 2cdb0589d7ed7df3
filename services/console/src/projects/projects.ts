import type { ProjectRecord } from '@gateway/api/console/projects'
import { rateLimits } from '@gateway/api/rates'
import { Refusal, refuse } from '@gateway/api/refusal'
import type { StoredCapture } from '@gateway/ledger-protocol/captured-content'
import { settingsOf, storedCapture } from '../content/capture-settings.ts'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { visibleProjects } from '../permissions/visible-projects.ts'
import { deleteTokens } from '../sign-in/access-tokens.ts'
import { authorizeInTenant, changePermissions, inProject, inTenant, passBarrier } from '../permissions/authorize.ts'
import { isDeepStrictEqual } from 'node:util'
import { Prisma } from '@gateway/database/client'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'mails'>

/** GET …/projects: projects visible to the user. */
export function listProjects(deps: Deps): Handler<'listProjects'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant, roles } = await inTenant(deps.prisma, call, res, 'projects.read')
    const { cursor, limit, ids } = call.query()
    const rows = await prisma.project.findMany({
      where: {
        AND: [
          await visibleProjects({ prisma }, user, tenant, roles),
          { id: { ...idsAfter(cursor, 'prj_'), ...(ids && { in: ids }) } },
        ],
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(projectRecord), limit, ({ id }) => id))
  }
}

/**
 * POST …/projects: permanently owned by a team. Its creator becomes its Project Owner, its wallet is empty, and alerts go
 * to its Project Owners by mail (money §10.3).
 */
export function createProject(deps: Deps): Handler<'createProject'> {
  const { newId, mails } = deps
  return async (call, res) => {
    const { user, tenant } = await inTenant(deps.prisma, call, res, 'projects.manage')
    const body = await call.body()
    const make = async (tx: Transaction) => {
      await authorizeInTenant(tx, user, tenant, 'projects.manage')
      const team = await owningTeam(tx, tenant, body.team ?? null, user.id)
      const created = await tx.project.create({ data: { id: newId('prj'), tenant, team, name: body.name } })
      // A token can't be an owner: an Admin appoints one (grants.ts).
      if (!user.token)
        await tx.projectGrant.create({ data: { project: created.id, user: user.id, role: 'Project Owner' } })
      const destination = mails.areSent ? newId('eml') : null
      await tx.$queryRaw`SELECT FROM control.set_default_alerts(${created.id}, ${user.id}, ${destination})`
      const what = { action: 'project.create' as const, subject: created.id, details: { name: body.name, team } }
      await recordChange(tx, { tenant, user: user.id, ...what })
      return { body: projectRecord(created) }
    }
    await createOnce(deps, call, res, make, (work) => changePermissions(deps, tenant, work))
  }
}

/**
 * DELETE …/projects/{p}: deletes the project, its grants, assignments, sandbox products and keys. The ledger then deletes
 * its assets. Its charges and the balance of its wallet remain on record permanently.
 */
export function deleteProject(deps: Deps): Handler<'deleteProject'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant, project: id } = await inProject(deps.prisma, call, res, 'projects.manage')
    await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.projects WHERE id = ${id} FOR UPDATE` // blocks new rows that reference it
      if ((await tx.execution.count({ where: { project: id, completedAt: null } })) > 0) throw stillExecutions()
      const keys = await tx.key.findMany({ where: { project: id }, select: { id: true } })
      const keyIds = keys.map((key) => key.id)
      await tx.keyResource.deleteMany({ where: { key: { in: keyIds } } })
      await tx.key.deleteMany({ where: { project: id } })
      await tx.assignment.deleteMany({ where: { project: id } })
      const sandboxes = await deleteSandboxes(tx, id)
      await tx.projectGrant.deleteMany({ where: { project: id } })
      const tokens = await deleteTokens(tx, { project: id })
      const { count } = await tx.project.deleteMany({ where: { id } })
      if (count === 0) throw refuse('not_found', {})
      const what = { action: 'project.delete' as const, subject: id, details: { keys: keyIds, sandboxes, tokens } }
      await recordChange(tx, { tenant, user: user.id, ...what })
    })
    await passBarrier(deps, [id])
    res.status(204).end()
  }
}

/** Refusal to delete a project with running executions, which read their package for each node. */
function stillExecutions(): Refusal {
  return new Refusal(
    'not_empty',
    'The project still has executions under way.',
    'Suspend its sandbox products, and stop its executions or wait up to 21 minutes.',
  )
}

async function deleteSandboxes(tx: Transaction, project: string): Promise<string[]> {
  const rows = await tx.sandbox.findMany({ where: { project }, select: { id: true } })
  const sandboxes = rows.map(({ id }) => id)
  await tx.sandbox.updateMany({ where: { project }, data: { activeRevision: null, activatedAt: null } })
  await tx.revision.deleteMany({ where: { sandbox: { in: sandboxes } } })
  await tx.sandbox.deleteMany({ where: { project } })
  return sandboxes
}

/** Returns the named team, or the first team of the creator. */
async function owningTeam(tx: Transaction, tenant: string, named: string | null, user: string): Promise<string> {
  const mine = await tx.teamMember.findMany({ where: { user }, select: { team: true } })
  const team = await tx.team.findFirst({
    where: { tenant, id: named ?? { in: mine.map((row) => row.team) } },
    orderBy: { id: 'asc' },
  })
  if (team) return team.id
  const wrong = named === null ? 'is required, because you are not in a team.' : 'is not a team of the organization.'
  throw invalidField('team', wrong, 'Send the ID of a team of the organization.')
}

type ProjectRow = Omit<ProjectRecord, 'createdAt' | 'rates' | 'capture'> & {
  createdAt: Date
  rates: unknown
  capture: unknown
}

function projectRecord(row: ProjectRow): ProjectRecord {
  const { id, name, team, createdAt, assetRetentionDays, rates, keySelfRotation } = row
  const capture = settingsOf(row.capture as StoredCapture)
  const settings = { assetRetentionDays, rates: rateLimits.parse(rates), keySelfRotation, capture }
  return { id, name, team, createdAt: createdAt.toISOString(), ...settings }
}

/**
 * PATCH …/projects/{p}: sets how long its assets are retained, its rate limits, whether its keys rotate themselves, and
 * how its prompts and answers are captured.
 */
export function changeProject(deps: Pick<ConsoleDeps, 'prisma' | 'contentKeys' | 'now'>): Handler<'changeProject'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant, project: id } = await inProject(deps.prisma, call, res, 'projects.change')
    const patch = await call.body()
    const changed = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.projects WHERE id = ${id} FOR UPDATE`
      const row = await tx.project.findUniqueOrThrow({ where: { id } })
      const { assetRetentionDays, rates, keySelfRotation, capture } = projectRecord(row)
      const before = { assetRetentionDays, rates, keySelfRotation, capture }
      const names = Object.keys(before) as (keyof typeof before)[]
      const changes = names.filter((name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name]))
      if (changes.length === 0) return row
      const only = (values: typeof patch) => Object.fromEntries(changes.map((name) => [name, values[name] ?? null]))
      const details = { ...only(patch), before: only(before) }
      const capturing = patch.capture !== undefined && {
        capture: storedCapture(deps, id, patch.capture, row.capture as StoredCapture) ?? Prisma.DbNull,
      }
      await recordChange(tx, { tenant, user: user.id, action: 'project.change', subject: id, details })
      return tx.project.update({ where: { id }, data: { ...only(patch), ...capturing } })
    })
    res.json(projectRecord(changed))
  }
}
