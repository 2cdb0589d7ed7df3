import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { Prisma } from '@gateway/database/client'
import { pageQuery, type ExecutionSummary } from '@gateway/contracts/console'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../needs.ts'
import { checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { textOf } from '../sandboxes/revision-record.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'> & { authorize: Authorize }

interface ExecutionRow {
  id: string
  sandbox: string
  revision: number
  project: string
  status: ExecutionSummary['status']
  error: Uint8Array | null
  charged_micro: bigint
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
}

/** GET …/sandboxes/{s}/executions: its runs, newest first, whoever began them. */
export function listExecutions(deps: Deps): RequestHandler {
  return async (req, res) => {
    const { project, sandbox } = await reachSandbox(deps, req, res)
    const { cursor, limit } = checkedQuery(req, pageQuery)
    const narrowed = cursor === undefined ? Prisma.empty : beforeCursor(cursor)
    const rows = await deps.prisma.$queryRaw<ExecutionRow[]>`
      SELECT id, sandbox, revision, project, status, error, created_at, started_at, completed_at,
             coalesce((SELECT sum(charged_micro) FROM money.attempts c WHERE c.execution = e.id), 0)::bigint AS charged_micro
        FROM money.executions e
       WHERE sandbox = ${sandbox.id} AND project = ${project} ${narrowed}
       ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
    const page = pageOf(rows, limit, ({ created_at, id }) => `${created_at.getTime()}.${id}`)
    res.json(mapPage(page, executionSummary))
  }
}

/** GET …/projects/{p}/executions/{e}: its record, from the ledger. @throws Refusal `execution_not_found` */
export function readExecution(deps: Deps): RequestHandler {
  return async (req, res) => {
    const [tenant, project] = [pathIdOf(req, 'tenant'), pathIdOf(req, 'project')]
    const execution = pathIdOf(req, 'execution')
    if (!(await deps.authorize.toUseSandboxes(personOf(res), tenant, project)))
      throw refuse('execution_not_found', { execution })
    const answer = await deps.ledger.readExecution({ caller: null, project, execution })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    res.type('json').send(answer.record)
  }
}

function beforeCursor(cursor: string): Prisma.Sql {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? []
  if (ms && id) return Prisma.sql`AND (created_at, id) < (${new Date(Number(ms))}, ${id})`
  throw refuse(
    'invalid_request',
    { reason: 'cursor: is not one that this list gave.', resolution: 'Send the nextCursor of the page before.' },
    { param: 'cursor' },
  )
}

function executionSummary(row: ExecutionRow): ExecutionSummary {
  return {
    id: row.id,
    object: 'sandbox.execution',
    sandbox: row.sandbox,
    revision: row.revision,
    project: row.project,
    status: row.status,
    error: row.error === null ? null : (JSON.parse(textOf(row.error)) as ExecutionSummary['error']),
    chargedMicro: Number(row.charged_micro),
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    completedAt: row.completed_at?.toISOString() ?? null,
  }
}
