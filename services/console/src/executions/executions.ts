import type { CheckedQueryOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import type { Page } from '@gateway/api/console/page'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { type StartedBy, errorOfExecution, type ExecutionSummary } from '@gateway/api/execution'
import { type RefusalBody, refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { behind, equal, type FoundRow, foundRows, inPeriod, type Order, pageOfFound } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import { reachSandbox, reachSandboxesOf, textOf } from '../sandboxes/sandbox-record.ts'
import { userOf } from '../sign-in/user.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import { Prisma } from '@gateway/database/client'
import { recordChange } from '../audit/record-change.ts'
import { followIn } from '../request/request-limits.ts'
import { authorizeReader, followExecution as progressOf, sendProgress } from './follow-execution.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/sandboxes/{s}/executions: newest first, regardless of who started them, by state, revision and time. */
export function listExecutions(deps: Deps): Handler<'listExecutions'> {
  return async (call, res) => {
    const { project, sandbox } = await reachSandbox(deps.prisma, call, res)
    res.json(await pageOfExecutions(deps, project, { ...call.query(), sandbox: sandbox.id }))
  }
}

/** GET …/projects/{p}/executions: of all its sandbox products, newest first, by state, sandbox product and time. */
export function listProjectExecutions(deps: Deps): Handler<'listProjectExecutions'> {
  return async (call, res) => {
    const { project } = await reachSandboxesOf(deps.prisma, call, res)
    res.json(await pageOfExecutions(deps, project, call.query()))
  }
}

/** GET …/projects/{p}/executions/{e}: the record, from the ledger. @throws Refusal `execution_not_found` */
export function readExecution(deps: Deps): Handler<'readExecution'> {
  return async (call, res) => {
    const [tenant, project] = [call.id('tenant'), call.id('project')]
    const execution = call.id('execution')
    if (!(await mayUseSandboxes(deps.prisma, userOf(res), tenant, project)))
      throw refuse('execution_not_found', { execution })
    const answer = await deps.ledger.readExecution({ caller: null, project, execution, detailed: true })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    res.type('json').end(answer.record)
  }
}

type Query = CheckedQueryOf<ConsoleRoutes['listExecutions']> | CheckedQueryOf<ConsoleRoutes['listProjectExecutions']>

async function pageOfExecutions(
  { prisma }: Pick<Deps, 'prisma'>,
  project: string,
  { cursor, ...query }: Query & { sandbox?: string | undefined },
): Promise<Page<ExecutionSummary>> {
  const place = cursor === undefined ? null : readTimeCursor(cursor, /^exe_/)
  const rows = await prisma.$queryRaw<FoundExecution[]>(findExecutions({ ...query, project, place }))
  return pageOfFound(rows, query.limit, executionSummary, ({ created_at: at, id }) => ({ at, id }))
}

function executionSummary(row: FoundExecution): ExecutionSummary {
  return {
    id: row.id,
    object: 'sandbox.execution',
    sandbox: row.sandbox,
    revision: row.revision,
    project: row.project,
    key: row.key,
    user: row.user,
    rerunOf: row.rerun_of,
    status: row.status,
    error: errorOf(row),
    maxMicro: row.max_micro === null ? null : Number(row.max_micro),
    chargedMicro: Number(row.charged_micro),
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    completedAt: row.completed_at?.toISOString() ?? null,
  }
}

function errorOf(row: FoundExecution): ExecutionSummary['error'] {
  if (row.error === null) return null
  return errorOfExecution(JSON.parse(textOf(row.error)) as RefusalBody, {
    id: row.id,
    startedBy: row.started_by,
    chargedMicro: Number(row.charged_micro),
    ended: row.completed_at !== null,
  })
}

type Queries = CheckedQueryOf<ConsoleRoutes['listExecutions']> & CheckedQueryOf<ConsoleRoutes['listProjectExecutions']>

export interface ExecutionFilters extends Pick<Queries, 'state' | 'revision' | 'sandbox' | 'from' | 'to'> {
  project: string
  /** Position where the previous page ended. */
  place: { at: Date; id: string } | null
  limit: number
}

export interface FoundExecution extends FoundRow {
  id: string
  sandbox: string
  revision: number
  project: string
  key: string | null
  user: string | null
  started_by: StartedBy
  status: ExecutionSummary['status']
  error: Uint8Array | null
  max_micro: bigint | null
  charged_micro: bigint
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  rerun_of: string | null
}

const order: Order = { at: Prisma.sql`a.created_at`, id: Prisma.sql`a.id` }
const columns = Prisma.sql`
  a.id, a.sandbox, a.revision, a.project, a.key, a.user_id AS "user", CASE WHEN a.user_id IS NULL THEN a.surface ELSE 'user' END AS started_by,
  a.status, a.error, a.max_micro, a.created_at, a.started_at, a.completed_at, a.rerun_of`

/** Selects the executions of a project that match the filters, newest first, with their charges (found-rows.ts). */
export function findExecutions(filters: ExecutionFilters): Prisma.Sql {
  const { table, indexed } = walkOf(filters)
  const along = Prisma.sql`${indexed} ${inPeriod(order.at, filters)} ${behind(order, filters.place)}`
  const visible = Prisma.sql`a.project = ${filters.project}`
  const walk = { ...order, table, along, fits: Prisma.sql`(${fitting(filters)})`, visible, columns }
  return Prisma.sql`
    SELECT e.*, coalesce((SELECT sum(v.charged_micro) FROM money.execution_nodes n
                           CROSS JOIN LATERAL (SELECT c.charged_micro FROM money.attempts c WHERE c.id = n.charge LIMIT 1) v
                           WHERE n.execution = e.id), 0)::bigint AS charged_micro
      FROM (${foundRows(walk, filters.limit)}) e
     ORDER BY e.created_at DESC, e.id DESC`
}

/**
 * Executions in progress are few and have their own index. They are selected separately (`OFFSET 0`), so that no plan
 * scans the time index for them among all ended executions (L2 in found-rows.ts).
 */
function walkOf({ project, sandbox, state }: ExecutionFilters): { table: Prisma.Sql; indexed: Prisma.Sql } {
  const table = Prisma.sql`money.executions`
  if (state === 'Admitted' || state === 'Running')
    return {
      table: Prisma.sql`(SELECT * FROM ${table} WHERE project = ${project} AND completed_at IS NULL OFFSET 0)`,
      indexed: Prisma.sql`true`,
    }
  const indexed = sandbox === undefined ? Prisma.sql`a.project = ${project}` : Prisma.sql`a.sandbox = ${sandbox}`
  return { table, indexed }
}

function fitting({ project, sandbox, state, revision }: ExecutionFilters): Prisma.Sql {
  const named = equal([
    [Prisma.sql`a.sandbox`, sandbox],
    [Prisma.sql`a.status`, state],
  ])
  const ofRevision = revision === undefined ? Prisma.empty : Prisma.sql`AND a.revision = ${revision}`
  return Prisma.sql`a.project = ${project} ${named} ${ofRevision}`
}

/**
 * POST …/projects/{p}/executions/{e}/cancel: cancels an execution, regardless of who started it (flows §4.11). The
 * ledger cancels it once. The audit row follows; a repeated request writes it if it is missing.
 * @throws Refusal `execution_not_found`
 */
export function cancelExecution(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'cancelExecution'> {
  return async (call, res) => {
    const user = userOf(res)
    const [tenant, project, execution] = [call.id('tenant'), call.id('project'), call.id('execution')]
    if (!(await mayUseSandboxes(deps.prisma, user, tenant, project))) throw refuse('execution_not_found', { execution })
    const answer = await deps.ledger.cancelExecution({ caller: null, project, execution, sandbox: null })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    if (answer.stoppedBy === 'user')
      await deps.prisma.$transaction(async (tx) => {
        const change = { tenant, action: 'sandbox.execution.cancel' as const, subject: answer.sandbox }
        const where = { ...change, details: { path: ['execution'], equals: execution } }
        if (!answer.began && (await tx.auditEntry.findFirst({ where }))) return
        await recordChange(tx, { ...change, user: user.id, details: { execution } })
      })
    res.type('json').end(answer.record)
  }
}

type ProgressDeps = Pick<ConsoleDeps, 'ledger' | 'requestLimits' | 'followerLooks' | 'stopping' | 'now' | 'publicUrl'>

/**
 * GET …/projects/{p}/executions/{e}/progress: progress lines after `after`, regardless of who started it (flows §4.4).
 * @throws Refusal `execution_not_found`
 */
export function followExecution(deps: ProgressDeps): Handler<'followExecution'> {
  return async (call, res) => {
    const [tenant, project, execution] = [call.id('tenant'), call.id('project'), call.id('execution')]
    const gone = () => refuse('execution_not_found', { execution })
    const authorize = authorizeReader(deps, call.req, { tenant, project }, gone)
    await authorize()
    followIn(deps, res, tenant)
    const followed = { project, execution, after: call.query().after }
    await sendProgress(deps, res, (disconnected) => progressOf(deps, followed, authorize, disconnected))
  }
}
