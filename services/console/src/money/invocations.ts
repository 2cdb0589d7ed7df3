import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { timeOfId } from '@gateway/contracts/ids'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import type { Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import type { Call, Handler } from '../request/call.ts'
import { pageOfFound } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'
import { authorizeInProject, mayUseSandboxes } from '../permissions/authorize.ts'
import { closedColumns, invocationRecord, isNewest, openColumns, type CallRow } from './call-rows.ts'
import { findCalls, type FoundCall } from './find-calls.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/projects/{p}/invocations: newest first, each as its newest attempt stands. */
export function listInvocations(deps: Deps): Handler<'listInvocations'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project, seesExecutions } = await reachCalls(deps, call, res)
    const { cursor, limit, ...filters } = call.query()
    const place = cursor === undefined ? null : readTimeCursor(cursor, /^inv_/)
    // To whoever may not see executions no call has one.
    const nothing = filters.execution !== undefined && !seesExecutions
    const found = findCalls({ ...filters, project, place, limit })
    const rows = nothing ? [] : await prisma.$queryRaw<FoundCall[]>(found)
    const recordOf = (row: CallRow) => invocationRecord(row, seesExecutions)
    res.json(pageOfFound(rows, limit, recordOf, ({ admitted_at: at, id }) => ({ at, id })))
  }
}

/** GET …/projects/{p}/invocations/{i} */
export function readInvocation(deps: Deps): Handler<'readInvocation'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project, seesExecutions } = await reachCalls(deps, call, res)
    const id = call.id('invocation')
    const [row] = await prisma.$queryRaw<CallRow[]>`
      SELECT ${openColumns} FROM money.reservations a WHERE a.project = ${project} AND a.invocation = ${id}
      UNION ALL
      SELECT ${closedColumns} FROM money.attempts a WHERE a.project = ${project} AND ${isNewest}
         AND (a.id = ${id} OR (a.invocation = ${id} AND a.attempt > 1))`
    if (!row) throw await absent(deps, id)
    res.json(invocationRecord(row, seesExecutions))
  }
}

/** Every grant shows the calls; whose execution and node they were is for those who may use the sandbox products (flows §1.2). */
async function reachCalls(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['listInvocations']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<{ project: string; seesExecutions: boolean }> {
  const [person, tenant] = [personOf(res), call.id('tenant')]
  const { id: project } = await authorizeInProject(deps, person, tenant, call.id('project'), 'usage.read')
  return { project, seesExecutions: await mayUseSandboxes(deps, person, tenant, project) }
}

/** Why there is no such record: the month that its id begins with may be archived. */
async function absent({ prisma }: Deps, id: string): Promise<Refusal> {
  const month = timeOfId(id)?.toISOString().slice(0, 7)
  const archive = month && (await prisma.archive.findFirst({ where: { attempts: { has: new Date(`${month}-01`) } } }))
  return archive ? refuse('invocation_archived', { month }) : refuse('not_found', {})
}
