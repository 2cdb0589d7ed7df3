import { Prisma } from '@gateway/database/client'
import type { UsageReport } from '@gateway/api/console/money'
import { notErrors } from '@gateway/ledger-protocol/compose-invocation'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { isAfter, readRolledUp, type RolledUp } from './read-booked.ts'
import { DAY_MS, HOUR_MS } from '@gateway/api/time-zone'
import { readHistogram, type UsageSums, type UsageSteps } from './usage-figures.ts'

/** Sums of a group in a step. */
export interface UsageCell extends UsageSums {
  /** Number of the step, from 1; null: no steps were requested. */
  step: number | null
  group: string | null
}

interface Period {
  from: Date
  to: Date
}

export interface UsageQuestion extends Period {
  project: string
  /** all: one group with every call. */
  by: UsageReport['by'] | 'all'
  /** Steps that divide the period; the period then equals that of the steps. */
  steps?: UsageSteps | undefined
  /** Only these groups; null stands for the calls without a group. */
  only?: readonly (string | null)[] | undefined
  withLatency?: boolean
  /** Read if it is not given. */
  known?: RolledUp
}

/** Expression for the name of the group of call v. */
const nameOf: Record<Exclude<UsageQuestion['by'], 'day'>, Prisma.Sql> = {
  all: Prisma.sql`''`,
  model: Prisma.sql`v.product`,
  key: Prisma.sql`v.key`, // empty: an execution started by a user
  user: Prisma.sql`
    CASE WHEN v.key <> '' THEN coalesce((SELECT k.created_by FROM control.keys k WHERE k.id = v.key), '')
         WHEN v.execution IS NULL THEN ''
         ELSE (SELECT coalesce(e.user_id, '') FROM money.executions e WHERE e.id = v.execution LIMIT 1) END`,
  sandbox: Prisma.sql`
    CASE WHEN v.execution IS NULL THEN '' ELSE (SELECT e.sandbox FROM money.executions e WHERE e.id = v.execution LIMIT 1) END`,
  tag: Prisma.sql`coalesce(v.tag, '')`,
}

/** As money.latency_bucket, which the console may not call. */
function bucketOf(ms: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${ms} <= 1 THEN 0 WHEN ${ms} > 1 THEN ceil(ln(least(${ms}, 3600000)::float8) / ln(1.1::float8)) END)::smallint`
}

/** Histogram of a single call; empty if it is not in any bucket. */
function histogramOf(ms: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`coalesce(CASE v.state WHEN 'Settled' THEN ${bucketOf(ms)}::bytea || 1::bytea END, '')`
}

const isSettled = Prisma.sql`v.state = 'Settled'`
const isError = Prisma.sql`(v.state = 'Released' AND coalesce(v.reason, '') <> ALL (${notErrors}::text[]))`
/** Call v, charged `micro`, with the columns of money.usage_hours. */
function asHour(by: Exclude<UsageQuestion['by'], 'day'>, micro: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    v.admitted_at AS at, ${nameOf[by]} AS name, (${isSettled})::integer AS calls,
    CASE WHEN ${isSettled} THEN v.prompt_tokens END AS prompt_tokens,
    CASE WHEN ${isSettled} THEN v.completion_tokens END AS completion_tokens,
    CASE WHEN ${isSettled} THEN ${micro} ELSE 0 END AS micro, (${isError})::integer AS errors,
    ${histogramOf(Prisma.sql`(extract(epoch FROM v.closed_at - v.admitted_at) * 1000)`)} AS durations,
    ${histogramOf(Prisma.sql`v.first_token_ms`)} AS first_tokens`
}

/** Number of the step that contains a time, from 1. */
function stepOf(steps: UsageSteps | undefined): Prisma.Sql {
  return steps ? Prisma.sql`width_bucket(at, ${steps.starts}::timestamptz[])` : Prisma.sql`NULL::integer`
}

/** Maximum number of cells returned. */
export const MAX_USAGE_CELLS = 50_000
/** Number of hours of groups whose histograms a statement reads: it bounds what is in memory at once. */
const HISTOGRAM_HOURS = 100_000

interface Row extends Omit<UsageCell, 'durations' | 'firstTokens'> {
  durations: Uint8Array | null
  firstTokens: Uint8Array | null
}

/**
 * Sums the calls admitted from `from` and before `to`, charged or failed: from the ledger's daily rollups, from hourly
 * ones at the ends of the period (money §9.2), and from the journal entries after the rollup. Hours divided between two
 * steps are read call by call. At most one cell more than `MAX_USAGE_CELLS`. One SQL statement reads all of it, so it is
 * of one moment. Only the histograms of many hours take several statements, for some of the groups each: hand them a
 * transaction that reads one snapshot.
 * @throws Refusal `usage_archived` if calls of a divided hour are archived
 */
export async function usageCells(deps: Reading, question: UsageQuestion): Promise<UsageCell[]> {
  const known = question.known ?? (await readRolledUp(deps, question.project))
  if (!mayReadManyHistograms(question)) return readAtOnce(deps, { ...question, known })
  const cells = await readAtOnce(deps, { ...question, known, withLatency: false })
  if (cells.length > MAX_USAGE_CELLS) return cells
  const place = (cell: UsageCell) => JSON.stringify([cell.step, cell.group])
  const complete = new Map<string, UsageCell>()
  for (const only of batchesOf(cells, Math.ceil(hoursOf(question) / question.steps!.starts.length)))
    for (const cell of await readAtOnce(deps, { ...question, known, only })) complete.set(place(cell), cell)
  return cells.map((cell) => complete.get(place(cell)) ?? cell)
}

/** Whether the histograms of a period are read by hour, and can be more than those of one statement. */
function mayReadManyHistograms({ withLatency, steps, by, only, ...period }: UsageQuestion): boolean {
  if (!withLatency || !isReadByHour(steps)) return false
  const groups = by === 'all' ? 1 : (only?.length ?? Infinity)
  return groups * hoursOf(period) > HISTOGRAM_HOURS
}

function hoursOf({ from, to }: Period): number {
  return (to.getTime() - from.getTime()) / HOUR_MS
}

/** Divides the groups of cells so that each part, unless it is one group, has at most `HISTOGRAM_HOURS`. */
function batchesOf(cells: readonly UsageCell[], hoursOfCell: number): (string | null)[][] {
  const batches: (string | null)[][] = []
  let room = 0
  for (const [group, { length }] of Map.groupBy(cells, (cell) => cell.group)) {
    const hours = length * hoursOfCell
    if (hours > room) {
      batches.push([])
      room = HISTOGRAM_HOURS
    }
    batches.at(-1)!.push(group)
    room -= hours
  }
  return batches
}

interface Reading {
  prisma: Pick<ConsoleDeps['prisma'], '$queryRaw'>
}

function isReadByHour(steps: UsageSteps | undefined): boolean {
  return steps !== undefined && !steps.areDays && steps.starts.length > 1
}

/** Reads cells in one statement. Histograms are added up here and not in SQL, which would take six times as long. */
async function readAtOnce(
  { prisma }: Reading,
  { project, by, steps, only, withLatency = false, known, ...period }: UsageQuestion & { known: RolledUp },
): Promise<UsageCell[]> {
  const divided = steps?.divided ?? []
  const { days, hours } = isReadByHour(steps) ? { days: null, hours: [period] } : partsOf(period)
  const dimension = by === 'day' ? 'all' : by
  const columns = Prisma.sql`name, calls, prompt_tokens, completion_tokens, micro, errors, durations, first_tokens`
  const rolledUp = Prisma.sql`project = ${project} AND dimension = ${dimension} AND ${among(only)}`
  const inHours = (part: Period) => Prisma.sql`
      SELECT hour AS at, ${columns} FROM money.usage_hours
       WHERE ${rolledUp} AND hour >= ${part.from} AND hour < ${part.to} AND hour <> ALL (${divided}::timestamptz[])
      UNION ALL`
  const inDays = days
    ? Prisma.sql`
      SELECT day AS at, ${columns} FROM money.usage_days
       WHERE ${rolledUp} AND day >= ${days.from} AND day < ${days.to}
      UNION ALL`
    : Prisma.empty
  const isDivided = divided.length > 0
  const histograms = Prisma.sql`string_agg(durations, '') AS durations, string_agg(first_tokens, '') AS "firstTokens"`
  const rows = await prisma.$queryRaw<Row[]>`
    WITH position AS MATERIALIZED (SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}),
    closed AS MATERIALIZED (
      SELECT j.reference, j.settled FROM money.journal j
       WHERE j.project = ${project} AND j.kind IN ('settle', 'release')
         AND ${isAfter(known)}
         AND j.seq > coalesce((SELECT seq FROM position), 0)),
    behind AS MATERIALIZED (
      SELECT date_trunc('hour', v.admitted_at, 'UTC') = ANY (${divided}::timestamptz[]) AS divided,
             ${asHour(dimension, Prisma.sql`c.settled`)}
        FROM closed c JOIN money.attempts v ON v.id = c.reference
       WHERE v.id = ANY (ARRAY(SELECT reference FROM closed)) AND v.product IS NOT NULL AND (${isSettled} OR ${isError})),
    ${isDivided ? callsOf(project, dimension, divided) : Prisma.empty}
    used AS (${inDays} ${Prisma.join(hours.map(inHours), '')}
      SELECT at, ${columns} FROM behind WHERE NOT divided AND at >= ${period.from} AND at < ${period.to} AND ${among(only)}
      ${isDivided ? Prisma.sql`UNION ALL SELECT at, ${columns} FROM call WHERE at >= ${period.from} AND at < ${period.to} AND ${among(only)}` : Prisma.empty})
    SELECT ${stepOf(steps)} AS step,
           ${by === 'day' ? Prisma.sql`to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')` : Prisma.sql`nullif(name, '')`} AS "group",
           sum(calls)::bigint AS calls, coalesce(sum(prompt_tokens), 0)::bigint AS prompt,
           coalesce(sum(completion_tokens), 0)::bigint AS completion, sum(micro)::bigint AS charged, sum(errors)::bigint AS errors,
           ${withLatency ? histograms : Prisma.sql`NULL::bytea AS durations, NULL::bytea AS "firstTokens"`}
      FROM used GROUP BY 1, 2
    ${isDivided ? Prisma.sql`UNION ALL SELECT 0, NULL, missing, 0, 0, 0, 0, NULL, NULL FROM missing WHERE missing <> 0` : Prisma.empty}
     ORDER BY 1, 2 NULLS LAST LIMIT ${MAX_USAGE_CELLS + 1}`
  if (rows[0]?.step === 0) throw refuse('usage_archived', { zone: steps!.zone.name }, { param: 'zone' })
  return rows.map((row) => ({
    ...row,
    durations: readHistogram(row.durations),
    firstTokens: readHistogram(row.firstTokens),
  }))
}

/** Condition that a row is of one of these groups, or true. */
function among(only: UsageQuestion['only']): Prisma.Sql {
  return only ? Prisma.sql`name = ANY (${only.map((group) => group ?? '')}::text[])` : Prisma.sql`true`
}

/**
 * Selects the calls of divided hours and the number missing: those the hourly rollups count but that are archived, and
 * those whose user or flow is requested but no longer known.
 */
function callsOf(project: string, by: Exclude<UsageQuestion['by'], 'day'>, divided: Date[]): Prisma.Sql {
  return Prisma.sql`
    call AS MATERIALIZED (
      SELECT ${asHour(by, Prisma.sql`v.charged_micro`)}
        FROM unnest(${divided}::timestamptz[]) AS each (hour)
        JOIN money.attempts v ON v.project = ${project} AND v.product IS NOT NULL AND (${isSettled} OR ${isError})
         AND v.admitted_at >= each.hour AND v.admitted_at < each.hour + interval '1 hour'),
    missing AS (
      SELECT (SELECT coalesce(sum(calls + errors), 0) FROM money.usage_hours
               WHERE project = ${project} AND dimension = 'all' AND name = '' AND hour = ANY (${divided}::timestamptz[]))::bigint
             + (SELECT coalesce(sum(calls + errors), 0) FROM behind WHERE divided)
             - (SELECT coalesce(sum(calls + errors), 0) FROM call WHERE name IS NOT NULL) AS missing),`
}

/** Splits a period into its whole days and the hours before and after them. */
function partsOf({ from, to }: Period): { days: Period; hours: Period[] } {
  const first = Math.min(Math.ceil(from.getTime() / DAY_MS) * DAY_MS, to.getTime())
  const last = Math.max(Math.floor(to.getTime() / DAY_MS) * DAY_MS, first)
  const [begin, end] = [new Date(first), new Date(last)]
  const days = { from: begin, to: end }
  return {
    days,
    hours: [
      { from, to: begin },
      { from: end, to },
    ],
  }
}
