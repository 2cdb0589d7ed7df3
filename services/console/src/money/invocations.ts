import { Prisma } from '@gateway/database/client'
import { composeInvocation } from '@gateway/contracts/console/compose-invocation'
import type { InvocationRecord } from '@gateway/contracts/console/money'
import { usageCounts, type UsageCount } from '@gateway/contracts/usage'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { timeOfId } from '@gateway/contracts/ids'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import type { Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import type { Call, Handler } from '../request/call.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'
import { authorizeInProject, mayUseSandboxes } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

interface InvocationRow extends Pick<InvocationRecord, UsageCount> {
  id: string
  /** Empty: a person runs a sandbox product. */
  key: string
  product: string
  execution: string | null
  node: string | null
  state: InvocationRecord['state']
  estimated: boolean
  prompt_pico: bigint
  completion_pico: bigint
  request_pico: bigint
  cached_pico: bigint | null
  reasoning_pico: bigint | null
  reserved_micro: bigint
  charged_micro: bigint
  admitted_at: Date
  /** Of the product as it is now. */
  unit: string
}

/** GET …/projects/{p}/invocations: newest first, each as its newest attempt stands. */
export function listInvocations(deps: Deps): Handler<'listInvocations'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project, seesExecutions } = await reachCalls(deps, call, res)
    const { cursor, limit } = call.query()
    const older = cursor === undefined ? Prisma.empty : olderThan(readTimeCursor(cursor))
    // Each half is cut to a page of its own before they meet, so that only the newest rows are read.
    const newest = Prisma.sql`ORDER BY admitted_at DESC, id DESC LIMIT ${limit + 1}`
    const rows = await prisma.$queryRaw<InvocationRow[]>`
      (${openCalls(project)} ${older} ${newest}) UNION ALL (${closedCalls(project)} ${older} ${newest}) ${newest}`
    res.json(
      pageOf(
        rows.map((row) => invocationRecord(row, seesExecutions)),
        limit,
        timeCursor,
      ),
    )
  }
}

/** GET …/projects/{p}/invocations/{i} */
export function readInvocation(deps: Deps): Handler<'readInvocation'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project, seesExecutions } = await reachCalls(deps, call, res)
    const id = call.id('invocation')
    const [row] = await prisma.$queryRaw<InvocationRow[]>`
      ${openCalls(project)} AND a.invocation = ${id}
      UNION ALL ${closedCalls(project)} AND (a.id = ${id} OR (a.invocation = ${id} AND a.attempt > 1))`
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

/** The counts of a call that is open, and those of one that is closed; under the names that the record has for them. */
const noCounts = Prisma.raw(usageCounts.map((count) => `NULL::integer AS "${count}"`).join(', '))
const counts = Prisma.raw(usageCounts.map((count) => `${columnOf(count)} AS "${count}"`).join(', '))

const unit = Prisma.sql`(SELECT p.unit FROM control.products p WHERE p.id = a.product) AS unit`

function openCalls(project: string): Prisma.Sql {
  return Prisma.sql`
    SELECT invocation AS id, key, product, execution, node, 'Open' AS state, ${noCounts},
           false AS estimated, prompt_pico, completion_pico, request_pico, cached_pico, reasoning_pico, micro AS reserved_micro, 0::bigint AS charged_micro, admitted_at, ${unit}
      FROM money.reservations a WHERE project = ${project}`
}

/** Without the attempts that another attempt has followed: they were released, and mean nothing any more. */
function closedCalls(project: string): Prisma.Sql {
  return Prisma.sql`
    SELECT invocation AS id, key, product, execution, node, state, ${counts},
           estimated, prompt_pico, completion_pico, request_pico, cached_pico, reasoning_pico, reserved_micro, charged_micro, admitted_at, ${unit}
      FROM money.attempts a WHERE project = ${project}
       AND NOT EXISTS (SELECT FROM money.attempts l WHERE l.invocation = a.invocation AND l.attempt > a.attempt AND l.attempt > 1)
       AND NOT EXISTS (SELECT FROM money.reservations l WHERE l.project = a.project AND l.invocation = a.invocation)`
}

function olderThan({ at, id }: { at: Date; id: string }): Prisma.Sql {
  return Prisma.sql`AND (a.admitted_at, a.invocation) < (${at}, ${id})`
}

function invocationRecord(row: InvocationRow, seesExecutions: boolean): InvocationRecord {
  return composeInvocation({
    ...row,
    invocation: row.id,
    execution: seesExecutions ? row.execution : null,
    node: seesExecutions ? row.node : null,
    promptPico: row.prompt_pico,
    completionPico: row.completion_pico,
    requestPico: row.request_pico,
    cachedPico: row.cached_pico,
    reasoningPico: row.reasoning_pico,
    reservedMicro: row.reserved_micro,
    chargedMicro: row.charged_micro,
    admittedAt: row.admitted_at,
  })
}

function columnOf(count: UsageCount): string {
  return count.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
