import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { timeOfId } from '@gateway/api/ids'
import { type Refusal, refuse } from '@gateway/api/refusal'
import type { Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import type { Call, Handler } from '../request/call.ts'
import {
  behind,
  equal,
  type FoundRow,
  foundRows,
  inPeriod,
  type Order,
  pageOfFound,
  ROWS_A_PAGE,
} from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import { type Known, mostExpensiveIds, readKnown } from './most-expensive.ts'
import { inProject, mayUseSandboxes } from '../permissions/authorize.ts'
import { Prisma } from '@gateway/database/client'
import type { QueryOf } from '@gateway/api/api-route'
import { composeInvocation } from '@gateway/ledger-protocol/compose-invocation'
import type { CallLatency, InvocationRecord } from '@gateway/api/console/money'
import { type UsageCount, usageCounts } from '@gateway/pricing/usage'

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/projects/{p}/invocations: newest or most expensive first, each with the state of its newest attempt. */
export function listInvocations(deps: Deps): Handler<'listInvocations'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project, ...reader } = await reachCalls(deps, call, res)
    const { cursor, limit, order: isByCost, include, ...filters } = call.query()
    const place = cursor === undefined ? null : readTimeCursor(cursor, /^inv_/)
    // For a reader who may not see executions, no call has one.
    const nothing = filters.execution !== undefined && !reader.seesExecutions
    const asked = { ...filters, project, place, limit }
    const found = isByCost ? mostExpensiveCalls(asked, await readKnown(deps, project)) : findCalls(asked)
    const rows = nothing ? [] : await prisma.$queryRaw<FoundCall[]>(found)
    const archivedBefore = await readArchivedBefore(deps, asked)
    const recordOf = (row: CallRow) => invocationRecord(row, reader)
    res.json({
      ...pageOfFound(rows, limit, recordOf, ({ admitted_at: at, id }) => ({ at, id })),
      ...(include && { latency: await readLatency(deps, asked, nothing) }),
      ...(archivedBefore !== null && { archivedBefore }),
    })
  }
}

/** GET …/projects/{p}/invocations/{i} */
export function readInvocation(deps: Deps): Handler<'readInvocation'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project, ...reader } = await reachCalls(deps, call, res)
    const id = call.id('invocation')
    const [row] = await prisma.$queryRaw<CallRow[]>`
      SELECT ${openColumns} FROM money.reservations a WHERE a.project = ${project} AND a.invocation = ${id}
      UNION ALL
      SELECT ${closedColumns} FROM money.attempts a WHERE a.project = ${project} AND ${isNewest}
         AND (a.id = ${id} OR (a.invocation = ${id} AND a.attempt > 1))`
    if (!row) throw await absent(deps, id)
    res.json(invocationRecord(row, reader))
  }
}

/**
 * Any grant shows the calls. Only users of sandbox products see their execution and node (flows §1.2), and only platform
 * operators their providers (rules §2.1).
 */
async function reachCalls(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['listInvocations']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<Reader & { project: string }> {
  const { user, tenant, project } = await inProject(deps.prisma, call, res, 'usage.read')
  const seesExecutions = await mayUseSandboxes(deps.prisma, user, tenant, project)
  return { project, seesExecutions, seesProviders: user.platformOperator }
}

/** Returns the refusal for a missing record: the month encoded in its ID may be archived. */
async function absent({ prisma }: Deps, id: string): Promise<Refusal> {
  const month = timeOfId(id)?.toISOString().slice(0, 7)
  const archive = month && (await prisma.archive.findFirst({ where: { attempts: { has: new Date(`${month}-01`) } } }))
  return archive ? refuse('invocation_archived', { month }) : refuse('not_found', {})
}

type Query = QueryOf<ConsoleRoutes['listInvocations']>

export interface CallFilters extends Pick<Query, 'key' | 'model' | 'state' | 'execution'> {
  project: string
  from?: Date | undefined
  to?: Date | undefined
  /** Position where the previous page ended. */
  place: { at: Date; id: string } | null
  limit: number
}

export type FoundCall = CallRow & FoundRow

const order: Order = { at: Prisma.sql`a.admitted_at`, id: Prisma.sql`a.invocation` }
const [project, key, product, execution, state] = ['project', 'key', 'product', 'execution', 'state'].map((column) =>
  Prisma.raw(`a.${column}`),
) as [Prisma.Sql, Prisma.Sql, Prisma.Sql, Prisma.Sql, Prisma.Sql]

/** Selects the matching calls of a project, newest first: open ones, always few, and closed ones (found-rows.ts). */
export function findCalls(filters: CallFilters): Prisma.Sql {
  const { limit } = filters
  const halves = [
    ...(filters.state === undefined || filters.state === 'Open' ? [openCalls(filters)] : []),
    ...(filters.state === 'Open' ? [] : [closedCalls(filters)]),
  ]
  const each = halves.map((half) => Prisma.sql`(${half})`)
  return Prisma.sql`
    SELECT * FROM (${Prisma.join(each, ' UNION ALL ')}) c ORDER BY admitted_at DESC, id DESC LIMIT ${limit + 1}`
}

/**
 * Selects the charged calls of a period, most expensive first. A charged attempt is the newest of its call. Only those
 * found are read whole. An execution has few calls, which an index finds, as it does the calls of a key and a model.
 */
export function mostExpensiveCalls(filters: CallFilters, known: Known): Prisma.Sql {
  const { limit, state: ofState, key: ofKey, model, execution: ofExecution } = filters
  const inOrder = Prisma.sql`ORDER BY a.charged_micro DESC, ${order.at} DESC, ${order.id} DESC`
  const ids =
    ofExecution === undefined && (ofKey === undefined || model === undefined)
      ? mostExpensiveIds({ ...filters, from: filters.from!, to: filters.to! }, known)
      : Prisma.sql`
       SELECT a.id FROM money.attempts a
        WHERE ${indexed(filters)} AND a.project = ${filters.project} ${narrowed(filters)} ${inPeriod(order.at, filters)}
          AND a.state = 'Settled' ${inOrder} LIMIT ${limit}`
  return Prisma.sql`
    SELECT ${closedColumns}, true AS fits, false AS last FROM money.attempts a
     WHERE a.id = ANY (ARRAY(${ids})) ${equal([[state, ofState]])} ${inOrder}`
}

/** Returns the day before which calls are archived; null if neither the period nor the project begins earlier. */
async function readArchivedBefore({ prisma }: Deps, { project, from }: CallFilters): Promise<string | null> {
  const [row] = await prisma.$queryRaw<{ day: string }[]>`
    SELECT day::date::text AS day
      FROM (SELECT max(of.month) + interval '1 month' AS day FROM money.archives r, unnest(r.attempts) of (month)) archived
      JOIN control.projects p ON p.id = ${project}
     WHERE greatest(p.created_at, ${from ?? null}::timestamptz) < day AT TIME ZONE 'UTC'`
  return row?.day ?? null
}

/** Exact percentiles of the charged calls among the newest matching ones: a page of the longest possible walk. */
async function readLatency({ prisma }: Deps, filters: CallFilters, isEmpty: boolean): Promise<CallLatency> {
  const newest = findCalls({ ...filters, place: null, limit: isEmpty ? 0 : ROWS_A_PAGE })
  const percentiles = (column: string) =>
    Prisma.raw(`percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ${column})`)
  const [row] = await prisma.$queryRaw<[{ calls: number; durations: Percentiles; tokens: Percentiles }]>`
    SELECT count(*)::integer AS calls, ${percentiles('duration_ms')} AS durations, ${percentiles('first_token_ms')} AS tokens
      FROM (SELECT round(extract(epoch FROM closed_at - admitted_at) * 1000)::integer AS duration_ms, first_token_ms
              FROM (${newest}) newest WHERE fits AND state = 'Settled' AND ${!isEmpty}) c`
  const [latencyP50Ms, latencyP95Ms] = row.durations ?? [null, null]
  const [firstTokenP50Ms, firstTokenP95Ms] = row.tokens ?? [null, null]
  return { calls: row.calls, latencyP50Ms, latencyP95Ms, firstTokenP50Ms, firstTokenP95Ms }
}

/** p50 and p95; null without values. */
type Percentiles = [number, number] | null

function openCalls(filters: CallFilters): Prisma.Sql {
  return Prisma.sql`
    SELECT ${openColumns}, true AS fits, false AS last FROM money.reservations a
     WHERE a.project = ${filters.project} ${narrowed(filters)} ${inTime(filters)}
     ORDER BY a.admitted_at DESC, a.invocation DESC LIMIT ${filters.limit + 1}`
}

function closedCalls(filters: CallFilters): Prisma.Sql {
  const ofState = equal([[state, filters.state]])
  const visible = Prisma.sql`a.project = ${filters.project}`
  const fits = Prisma.sql`(${visible} ${narrowed(filters)} ${ofState} AND ${isNewest})`
  const along = Prisma.sql`${indexed(filters)} ${inTime(filters)}`
  const walk = { ...order, table: Prisma.sql`money.attempts`, columns: closedColumns, along, fits, visible }
  return foundRows(walk, filters.limit)
}

/**
 * Condition answered by an index: an execution has few calls, and a key only those of one project (L2 in
 * found-rows.ts).
 */
function indexed({ project: ofProject, key: ofKey, execution: ofExecution }: CallFilters): Prisma.Sql {
  if (ofExecution !== undefined) return Prisma.sql`${execution} = ${ofExecution}`
  return ofKey === undefined ? Prisma.sql`${project} = ${ofProject}` : Prisma.sql`${key} = ${ofKey}`
}

function narrowed(filters: CallFilters): Prisma.Sql {
  return equal([
    [key, filters.key],
    [product, filters.model],
    [execution, filters.execution],
  ])
}

function inTime(filters: CallFilters): Prisma.Sql {
  return Prisma.sql`${inPeriod(order.at, filters)} ${behind(order, filters.place)}`
}

/** Stored call: an open reservation, or the newest closed attempt. */
export interface CallRow extends Pick<InvocationRecord, UsageCount> {
  id: string
  /** Empty: the call belongs to an execution started by a user. */
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
  cache_write_pico: bigint | null
  reserved_micro: bigint
  charged_micro: bigint
  admitted_at: Date
  closed_at: Date | null
  /** As stored, unmapped. */
  reason: string | null
  /** Current unit of the product. */
  unit: string
  first_token_ms: number | null
  tries: string | null
}

/** Usage columns of an open and of a closed call, named as in the record. */
const noCounts = Prisma.raw(usageCounts.map((count) => `NULL::integer AS "${count}"`).join(', '))
const counts = Prisma.raw(usageCounts.map((count) => `a.${columnOf(count)} AS "${count}"`).join(', '))

const whatAndPrice = Prisma.sql`
  a.prompt_pico, a.completion_pico, a.request_pico, a.cached_pico, a.reasoning_pico, a.cache_write_pico`
const unit = Prisma.sql`(SELECT p.unit FROM control.products p WHERE p.id = a.product) AS unit`

/** Columns of `money.reservations a`. */
const openColumns = Prisma.sql`
  a.invocation AS id, a.key, a.product, a.execution, a.node, 'Open' AS state, ${noCounts}, false AS estimated, ${whatAndPrice},
  a.micro AS reserved_micro, 0::bigint AS charged_micro, a.admitted_at, NULL::timestamptz AS closed_at, NULL::text AS reason,
  NULL::integer AS first_token_ms, NULL::text AS tries, ${unit}`

/** Columns of `money.attempts a`. */
const closedColumns = Prisma.sql`
  a.invocation AS id, a.key, a.product, a.execution, a.node, a.state, ${counts}, a.estimated, ${whatAndPrice},
  a.reserved_micro, a.charged_micro, a.admitted_at, a.closed_at, a.reason, a.first_token_ms, a.tries, ${unit}`

/**
 * Whether an attempt is the newest of its call: earlier ones were released and don't count. Evaluated per row
 * (`OFFSET 0`), so that no plan reads all later attempts of the table.
 */
const isNewest = Prisma.sql`
  NOT EXISTS (SELECT FROM money.attempts l
               WHERE l.invocation = a.invocation AND l.attempt > a.attempt AND l.attempt > 1 OFFSET 0)
  AND NOT EXISTS (SELECT FROM money.reservations l
                   WHERE l.project = a.project AND l.invocation = a.invocation OFFSET 0)`

interface Reader {
  /** Whether the reader may know of private executions (flows §1.2). */
  seesExecutions: boolean
  seesProviders: boolean
}

function invocationRecord(row: CallRow, { seesExecutions, seesProviders }: Reader): InvocationRecord {
  const call = {
    ...row,
    invocation: row.id,
    execution: seesExecutions ? row.execution : null,
    node: seesExecutions ? row.node : null,
    promptPico: row.prompt_pico,
    completionPico: row.completion_pico,
    requestPico: row.request_pico,
    cachedPico: row.cached_pico,
    reasoningPico: row.reasoning_pico,
    cacheWritePico: row.cache_write_pico,
    reservedMicro: row.reserved_micro,
    chargedMicro: row.charged_micro,
    admittedAt: row.admitted_at,
    closedAt: row.closed_at,
    firstTokenMs: row.first_token_ms,
  }
  return composeInvocation(call, seesProviders)
}

function columnOf(count: UsageCount): string {
  return count.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
