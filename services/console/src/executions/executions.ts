import type { CheckedQueryOf } from '@gateway/contracts/api-route'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import type { Page } from '@gateway/contracts/console/page'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { ExecutionSummary } from '@gateway/contracts/execution'
import { errorOfExecution } from '@gateway/contracts/execution-error'
import { refuse, type RefusalBody } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOfFound } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import { reachSandbox, reachSandboxesOf } from '../sandboxes/reach-sandbox.ts'
import { textOf } from '../sandboxes/revision-record.ts'
import { personOf } from '../sign-in/person.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import { findExecutions, type FoundExecution } from './find-executions.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/sandboxes/{s}/executions: its executions, newest first, whoever began them, of a state, a revision, a time. */
export function listExecutions(deps: Deps): Handler<'listExecutions'> {
  return async (call, res) => {
    const { project, sandbox } = await reachSandbox(deps, call, res)
    res.json(await pageOfExecutions(deps, project, { ...call.query(), sandbox: sandbox.id }))
  }
}

/** GET …/projects/{p}/executions: those of all its sandbox products, newest first, of a state, one of them, a time. */
export function listProjectExecutions(deps: Deps): Handler<'listProjectExecutions'> {
  return async (call, res) => {
    const { project } = await reachSandboxesOf(deps, call, res)
    res.json(await pageOfExecutions(deps, project, call.query()))
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
    person: row.person,
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
    begunBy: row.begun_by,
    chargedMicro: Number(row.charged_micro),
    ended: row.completed_at !== null,
  })
}
