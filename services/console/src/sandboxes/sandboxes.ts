import type { z } from 'zod'
import { sandboxPatch, MAX_COUNTED_EXECUTIONS, type SandboxActivity } from '@gateway/api/console/sandboxes'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { requireQuota } from '../projects/quotas.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf, readIdCursor } from '../request/page.ts'
import { reachSandbox, reachSandboxesOf, sandboxRecord, sandboxRecords, type SandboxRow } from './sandbox-record.ts'
import { passBarrier } from '../permissions/authorize.ts'
import { Prisma } from '@gateway/database/client'
import { DAY_MS } from '@gateway/api/time-zone'
import { wholeHours } from '../money/usage.ts'
import { usageCells } from '../money/usage-cells.ts'

// Admins can read the audit but not sandbox products (flows §1.2), so audit rows contain ids and flags, and nothing
// that an author wrote.

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'quotas'>

/** GET …/projects/{p}/sandboxes: the sandbox products of a project (flows §1). */
export function listSandboxes(deps: Deps): Handler<'listSandboxes'> {
  return async (call, res) => {
    const { project } = await reachSandboxesOf(deps.prisma, call, res)
    const { cursor, limit } = call.query()
    const rows = await deps.prisma.sandbox.findMany({
      where: { project, id: idsAfter(cursor, 'sbx-') },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(await sandboxRecords(deps.prisma, rows), limit, ({ id }) => id))
  }
}

/**
 * POST …/projects/{p}/sandboxes: creates an empty sandbox product. Saving and activating a revision publishes nothing.
 */
export function createSandbox(deps: Deps): Handler<'createSandbox'> {
  const { newId } = deps
  return async (call, res) => {
    const { user, tenant, project } = await reachSandboxesOf(deps.prisma, call, res)
    const fields = await call.body()
    const id = newId('sbx').replace('_', '-')
    await createOnce(deps, call, res, async (tx) => {
      await requireQuota(tx, deps.quotas, project, 'flows')
      const row = await tx.sandbox.create({ data: { id, project, createdBy: user.id, ...fields } })
      const what = { action: 'sandbox.create' as const, subject: id, details: { project, ...switches(row) } }
      await recordChange(tx, { tenant, user: user.id, ...what })
      return { body: await sandboxRecord(tx, row) }
    })
  }
}

/** GET …/sandboxes/{s} */
export function readSandbox(deps: Deps): Handler<'readSandbox'> {
  return async (call, res) => {
    const { sandbox } = await reachSandbox(deps.prisma, call, res)
    res.json(await sandboxRecord(deps.prisma, sandbox))
  }
}

/** PATCH …/sandboxes/{s}: changes only the fields sent. Suspending responds once no further call can be admitted. */
export function changeSandbox(deps: Deps): Handler<'changeSandbox'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant, project, sandbox } = await reachSandbox(deps.prisma, call, res)
    const patch = await call.body()
    const changed = await prisma.$transaction(async (tx) => {
      const before = await lockSandbox(tx, sandbox.id)
      const after = await tx.sandbox.update({ where: { id: sandbox.id }, data: columnsOf(patch) })
      const details = { fields: Object.keys(patch), before: switches(before), after: switches(after) }
      await recordChange(tx, { tenant, user: user.id, action: 'sandbox.change', subject: sandbox.id, details })
      return after
    })
    if (patch.suspended === true) await passBarrier(deps, [project])
    res.json(await sandboxRecord(prisma, changed))
  }
}

/** Locks a sandbox product and returns its current row. */
export async function lockSandbox(tx: Transaction, id: string) {
  await tx.$queryRaw`SELECT FROM control.sandboxes WHERE id = ${id} FOR NO KEY UPDATE`
  return tx.sandbox.findUniqueOrThrow({ where: { id } })
}

/** Columns of the fields that were sent. */
function columnsOf({ name, description, tags, mcpEnabled, suspended }: z.infer<typeof sandboxPatch>) {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags }),
    ...(mcpEnabled !== undefined && { mcpEnabled }),
    ...(suspended !== undefined && { suspended }),
  }
}

function switches({ mcpEnabled, suspended }: SandboxRow) {
  return { mcpEnabled, suspended }
}

const PERIOD_MS = 30 * DAY_MS

/**
 * GET …/projects/{p}/sandboxes/activity: last execution, success rate and spend of 30 days, in the order of the sandbox
 * products. The spend is that of the usage report by sandbox product.
 */
export function listSandboxActivity(deps: Pick<ConsoleDeps, 'prisma' | 'now'>): Handler<'listSandboxActivity'> {
  return async (call, res) => {
    const { project } = await reachSandboxesOf(deps.prisma, call, res)
    const { cursor, limit } = call.query()
    const now = deps.now()
    const { from, to } = wholeHours({ from: new Date(now.getTime() - PERIOD_MS), to: now })
    const asked = { project, after: cursor === undefined ? null : readIdCursor(cursor, 'sbx-'), limit, from }
    const rows = await deps.prisma.$queryRaw<ActivityRow[]>(findActivity(asked))
    const only = rows.map(({ sandbox }) => sandbox)
    const usage = await usageCells(deps, { project, by: 'sandbox', from, to, only })
    const charged = new Map(usage.map((row) => [row.group, row.charged]))
    const data = rows.map((row): SandboxActivity => ({
      sandbox: row.sandbox,
      lastExecution:
        row.id === null ? null : { id: row.id, status: row.status!, createdAt: row.created_at!.toISOString() },
      ended: row.ended,
      succeeded: row.succeeded,
      chargedMicro: Number(charged.get(row.sandbox) ?? 0n),
    }))
    res.json(pageOf(data, limit, ({ sandbox }) => sandbox))
  }
}

type LastExecution = NonNullable<SandboxActivity['lastExecution']>

interface ActivityRow {
  sandbox: string
  /** of the last execution; null: there is none */
  id: string | null
  status: LastExecution['status'] | null
  created_at: Date | null
  ended: number
  succeeded: number
}

/**
 * Selects the last execution of each sandbox product after `after`, and counts those since `from`, by the index on
 * sandbox product and time. The limit keeps Postgres from reading all executions where flows have many.
 */
export function findActivity(asked: { project: string; after: string | null; limit: number; from: Date }): Prisma.Sql {
  const after = asked.after === null ? Prisma.sql`true` : Prisma.sql`id < ${asked.after}`
  return Prisma.sql`
    SELECT s.id AS sandbox, last.id, last.status, last.created_at, counted.ended, counted.succeeded
      FROM (SELECT id FROM control.sandboxes
             WHERE project = ${asked.project} AND ${after} ORDER BY id DESC LIMIT ${asked.limit + 1}) s
      LEFT JOIN LATERAL (
        SELECT e.id, e.status, e.created_at FROM money.executions e
         WHERE e.sandbox = s.id ORDER BY e.created_at DESC LIMIT 1) last ON true
     CROSS JOIN LATERAL (
        SELECT count(e.completed_at)::integer AS ended, (count(*) FILTER (WHERE e.status = 'Succeeded'))::integer AS succeeded
          FROM (SELECT e.status, e.completed_at FROM money.executions e
                 WHERE e.sandbox = s.id AND e.created_at >= ${asked.from}
                 ORDER BY e.created_at DESC LIMIT ${MAX_COUNTED_EXECUTIONS}) e) counted
     ORDER BY s.id DESC`
}
