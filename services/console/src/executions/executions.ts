import type { CheckedQueryOf } from '@gateway/contracts/api-route'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { Prisma } from '@gateway/database/client'
import type { ExecutionSummary } from '@gateway/contracts/execution'
import { errorOfExecution, type BegunBy } from '@gateway/contracts/execution-error'
import { refuse, type RefusalBody } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { textOf } from '../sandboxes/revision-record.ts'
import { personOf } from '../sign-in/person.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

interface ExecutionRow {
  id: string
  sandbox: string
  revision: number
  project: string
  begun_by: BegunBy
  status: ExecutionSummary['status']
  error: Uint8Array | null
  max_micro: bigint | null
  charged_micro: bigint
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  rerun_of: string | null
}

/** GET …/sandboxes/{s}/executions: its executions, newest first, whoever began them, of a state, a revision, a time. */
export function listExecutions(deps: Deps): Handler<'listExecutions'> {
  return async (call, res) => {
    const { project, sandbox } = await reachSandbox(deps, call, res)
    const query = call.query()
    const { limit } = query
    const rows = await deps.prisma.$queryRaw<ExecutionRow[]>`
      SELECT id, sandbox, revision, project, CASE WHEN person IS NULL THEN surface ELSE 'person' END AS begun_by, status, error, max_micro, created_at, started_at, completed_at, rerun_of,
             coalesce((SELECT sum(v.charged_micro) FROM money.execution_nodes n
                        CROSS JOIN LATERAL (SELECT c.charged_micro FROM money.attempts c WHERE c.id = n.charge LIMIT 1) v
                        WHERE n.execution = e.id), 0)::bigint AS charged_micro
        FROM money.executions e
       WHERE sandbox = ${sandbox.id} AND project = ${project} ${wantedBy(query)}
       ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
    res.json(pageOf(rows.map(executionSummary), limit, timeCursor))
  }
}

/** GET …/projects/{p}/executions/{e}: its record, from the ledger. @throws Refusal `execution_not_found` */
export function readExecution(deps: Deps): Handler<'readExecution'> {
  return async (call, res) => {
    const [tenant, project] = [call.id('tenant'), call.id('project')]
    const execution = call.id('execution')
    if (!(await mayUseSandboxes(deps, personOf(res), tenant, project)))
      throw refuse('execution_not_found', { execution })
    const answer = await deps.ledger.readExecution({ caller: null, project, execution, detailed: true })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    res.type('json').end(answer.record)
  }
}

/** The index over sandbox and time leads to them; state and revision are looked at on the way. */
function wantedBy({ cursor, state, revision, from, to }: CheckedQueryOf<ConsoleRoutes['listExecutions']>): Prisma.Sql {
  const older = cursor === undefined ? null : readTimeCursor(cursor)
  return Prisma.join(
    [
      ...(older === null ? [] : [Prisma.sql`AND (created_at, id) < (${older.at}, ${older.id})`]),
      ...(state === undefined ? [] : [Prisma.sql`AND status = ${state}`]),
      ...(revision === undefined ? [] : [Prisma.sql`AND revision = ${revision}`]),
      ...(from === undefined ? [] : [Prisma.sql`AND created_at >= ${from}`]),
      ...(to === undefined ? [] : [Prisma.sql`AND created_at < ${to}`]),
      Prisma.empty,
    ],
    ' ',
  )
}

function executionSummary(row: ExecutionRow): ExecutionSummary {
  return {
    id: row.id,
    object: 'sandbox.execution',
    sandbox: row.sandbox,
    revision: row.revision,
    project: row.project,
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

function errorOf(row: ExecutionRow): ExecutionSummary['error'] {
  if (row.error === null) return null
  return errorOfExecution(JSON.parse(textOf(row.error)) as RefusalBody, {
    id: row.id,
    begunBy: row.begun_by,
    chargedMicro: Number(row.charged_micro),
    ended: row.completed_at !== null,
  })
}
