import { MAX_COUNTED_EXECUTIONS, type SandboxActivity } from '@gateway/api/console/sandboxes'
import { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { DAY_MS } from '../money/time-zone.ts'
import { wholeHours } from '../money/usage.ts'
import { usageCells } from '../money/usage-cells.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { reachSandboxesOf } from './reach-sandbox.ts'

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
