import { Prisma } from '@gateway/database/client'
import type { UsageReport } from '@gateway/api/console/money'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { readRolledUp } from './read-rolled-up.ts'
import { DAY_MS } from './time-zone.ts'
import type { UsageSteps } from './usage-steps.ts'

export interface UsageRow {
  /** Number of the step, from 1; null: no steps were requested. */
  step: number | null
  group: string | null
  calls: bigint
  prompt: bigint
  completion: bigint
  charged: bigint
}

interface Period {
  from: Date
  to: Date
}

const groups: Record<UsageQuestion['by'], Prisma.Sql> = {
  model: Prisma.sql`product`,
  key: Prisma.sql`nullif(key, '')`, // empty: an execution started by a user
  sandbox: Prisma.sql`nullif(sandbox, '')`,
  tag: Prisma.sql`nullif(tag, '')`,
  day: Prisma.sql`to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

/** Flow whose execution made call v; empty: a direct call; null: the execution was dropped. */
export const flowOf = Prisma.sql`
  CASE WHEN v.execution IS NULL THEN '' ELSE (SELECT e.sandbox FROM money.executions e WHERE e.id = v.execution LIMIT 1) END`

export interface UsageQuestion extends Period {
  project: string
  by: Exclude<UsageReport['by'], 'user'>
  /** Steps that divide the period; the period then equals that of the steps. */
  steps?: UsageSteps | undefined
}

/** Number of the step that contains a time, from 1. */
export function stepOf(steps: UsageSteps | undefined, at: Prisma.Sql): Prisma.Sql {
  return steps ? Prisma.sql`width_bucket(${at}, ${steps.starts}::timestamptz[])` : Prisma.sql`NULL::integer`
}

/** Maximum number of rows returned. */
export const MAX_USAGE_ROWS = 50_000

/**
 * Sums settled calls admitted from `from` and before `to`: from the ledger's daily rollups, from hourly ones at the
 * ends of the period (money §9.2), and from the journal entries after the rollup. Hours divided between two steps are
 * read call by call. The second SQL statement reads all of it, so it is of one moment.
 * @throws Refusal `usage_archived` if calls of a divided hour are archived
 */
export async function usageRows(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  { project, by, steps, ...period }: UsageQuestion,
): Promise<UsageRow[]> {
  const known = await readRolledUp({ prisma }, project)
  const divided = steps?.divided ?? []
  const { days, hours } = steps && !steps.areDays ? { days: null, hours: [period] } : partsOf(period)
  const step = stepOf(steps, Prisma.sql`at`)
  const counts = Prisma.sql`calls, prompt_tokens, completion_tokens, micro`
  const inHours = (part: Period) => Prisma.sql`
      SELECT hour AS at, product, key, sandbox, tag, ${counts} FROM money.usage_hours
       WHERE project = ${project} AND hour >= ${part.from} AND hour < ${part.to} AND hour <> ALL (${divided}::timestamptz[])
      UNION ALL`
  const inDays = days
    ? Prisma.sql`
      SELECT day AS at, product, key, sandbox, tag, ${counts} FROM money.usage_days
       WHERE project = ${project} AND day >= ${days.from} AND day < ${days.to}
      UNION ALL`
    : Prisma.empty
  const rows = await prisma.$queryRaw<UsageRow[]>`
    WITH position AS MATERIALIZED (SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}),
    settled AS MATERIALIZED (
      SELECT j.reference, j.settled AS micro FROM money.journal j
       WHERE j.project = ${project} AND j.kind = 'settle'
         AND j.seq > ${known.seq} AND j.at >= ${known.since}
         AND j.seq > coalesce((SELECT seq FROM position), 0)),
    behind AS MATERIALIZED (
      SELECT v.admitted_at AS at, date_trunc('hour', v.admitted_at, 'UTC') = ANY (${divided}::timestamptz[]) AS divided,
             v.product, v.key, ${flowOf} AS sandbox, coalesce(v.tag, '') AS tag, 1 AS calls, v.prompt_tokens, v.completion_tokens, s.micro
        FROM settled s JOIN money.attempts v ON v.id = s.reference
       WHERE v.id = ANY (ARRAY(SELECT reference FROM settled))),
    ${divided.length > 0 ? callsOf(project, by, divided) : Prisma.empty}
    used AS (${inDays} ${Prisma.join(hours.map(inHours), '')}
      SELECT at, product, key, sandbox, tag, ${counts} FROM behind
       WHERE at >= ${period.from} AND at < ${period.to} AND NOT divided
      ${divided.length > 0 ? Prisma.sql`UNION ALL SELECT at, product, key, sandbox, tag, ${counts} FROM call WHERE at >= ${period.from} AND at < ${period.to}` : Prisma.empty})
    SELECT ${step} AS step, ${groups[by]} AS "group", sum(calls)::bigint AS calls,
           coalesce(sum(prompt_tokens), 0)::bigint AS prompt, coalesce(sum(completion_tokens), 0)::bigint AS completion,
           sum(micro)::bigint AS charged
      FROM used GROUP BY 1, 2
    ${divided.length > 0 ? Prisma.sql`UNION ALL SELECT 0, NULL, missing, 0, 0, 0 FROM missing WHERE missing <> 0` : Prisma.empty}
     ORDER BY 1, 2 NULLS LAST LIMIT ${MAX_USAGE_ROWS + 1}`
  if (rows[0]?.step === 0) throw refuse('usage_archived', { zone: steps!.zone.name }, { param: 'zone' })
  return rows
}

/**
 * Selects the settled calls of divided hours and the number missing: calls the hourly rollups count but that are
 * archived, and calls whose flow is requested but no longer known.
 */
function callsOf(project: string, by: UsageQuestion['by'], divided: Date[]): Prisma.Sql {
  return Prisma.sql`
    call AS MATERIALIZED (
      SELECT v.admitted_at AS at, v.product, v.key, ${flowOf} AS sandbox, coalesce(v.tag, '') AS tag, 1 AS calls, v.prompt_tokens, v.completion_tokens,
             v.charged_micro AS micro
        FROM unnest(${divided}::timestamptz[]) AS each (hour)
        JOIN money.attempts v ON v.project = ${project} AND v.state = 'Settled'
         AND v.admitted_at >= each.hour AND v.admitted_at < each.hour + interval '1 hour'),
    missing AS (
      SELECT (SELECT coalesce(sum(calls), 0) FROM money.usage_hours
               WHERE project = ${project} AND hour = ANY (${divided}::timestamptz[]))::bigint
             + (SELECT count(*) FROM behind WHERE divided) - (SELECT count(*) FROM call)
             + (SELECT count(*) FROM call WHERE ${by === 'sandbox'} AND sandbox IS NULL) AS missing),`
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
