import { Prisma } from '@gateway/database/client'
import { notErrors } from '@gateway/ledger-protocol/release-reason'
import type { ConsoleDeps } from '../deps.ts'
import { type Latency, readHistogram } from './latency-figures.ts'
import { readRolledUp } from './read-rolled-up.ts'
import { flowOf, MAX_USAGE_ROWS, stepOf, type UsageQuestion } from './usage-rows.ts'

/** Latency of the calls of a group in a step. */
export interface LatencyCell extends Latency {
  /** Number of the step, from 1; null: no steps were requested. */
  step: number | null
  group: string | null
}

interface Row {
  step: number | null
  group: string | null
  errors: bigint
  durations: Uint8Array
  firstTokens: Uint8Array
}

/** Expression for a dimension of a call that is not rolled up. */
const names = {
  model: Prisma.sql`v.product`,
  key: Prisma.sql`v.key`,
  sandbox: flowOf,
  tag: Prisma.sql`coalesce(v.tag, '')`,
}

/** As money.latency_bucket, which the console may not call. */
function bucketOf(ms: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${ms} <= 1 THEN 0 WHEN ${ms} > 1 THEN ceil(ln(least(${ms}, 3600000)::float8) / ln(1.1::float8)) END)::smallint`
}

const durations = bucketOf(Prisma.sql`(extract(epoch FROM v.closed_at - v.admitted_at) * 1000)`)
const firstTokens = bucketOf(Prisma.sql`v.first_token_ms`)

/** Histogram of a single call; empty if it is not in any bucket. */
function histogramOf(bucket: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`coalesce(CASE v.state WHEN 'Settled' THEN ${bucket}::bytea || 1::bytea END, '')`
}

/** Columns of call v, named as in money.latency_hours. */
const measured = Prisma.sql`
  (v.state = 'Released' AND coalesce(v.reason, '') <> ALL (${notErrors}::text[]))::integer AS errors,
  ${histogramOf(durations)} AS durations, ${histogramOf(firstTokens)} AS first_tokens`

/**
 * Latency and errors of the calls admitted from `from` and before `to`, by group and step: from the ledger's hours
 * (money §9.6), and call by call from the journal entries after them and for divided hours. Histograms are added up here
 * and not in SQL, which would take six times as long. At most one cell more than `MAX_USAGE_ROWS`.
 */
export async function latencyCells(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  { project, by, steps, from, to }: UsageQuestion & { by: keyof typeof names },
): Promise<LatencyCell[]> {
  const known = await readRolledUp({ prisma }, project)
  const divided = steps?.divided ?? []
  const calls = Prisma.sql`
      SELECT v.admitted_at AS at, ${names[by]} AS name, ${measured} FROM money.attempts v
       WHERE v.project = ${project} AND v.product IS NOT NULL AND v.admitted_at >= ${from} AND v.admitted_at < ${to}`
  const inDividedHours = Prisma.sql`
      UNION ALL ${calls}
         AND EXISTS (SELECT FROM unnest(${divided}::timestamptz[]) each (hour)
                      WHERE v.admitted_at >= each.hour AND v.admitted_at < each.hour + interval '1 hour')`
  const rows = await prisma.$queryRaw<Row[]>`
    WITH position AS MATERIALIZED (SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}),
    closed AS MATERIALIZED (
      SELECT j.reference FROM money.journal j
       WHERE j.project = ${project} AND j.kind IN ('settle', 'release')
         AND j.seq > ${known.seq} AND j.at >= ${known.since} AND j.seq > coalesce((SELECT seq FROM position), 0)),
    measured AS (
      SELECT hour AS at, name, errors, durations, first_tokens FROM money.latency_hours
       WHERE project = ${project} AND dimension = ${by} AND hour >= ${from} AND hour < ${to}
         AND hour <> ALL (${divided}::timestamptz[])
      UNION ALL ${calls}
         AND v.id = ANY (ARRAY(SELECT reference FROM closed))
         AND date_trunc('hour', v.admitted_at, 'UTC') <> ALL (${divided}::timestamptz[])
      ${divided.length === 0 ? Prisma.empty : inDividedHours})
    SELECT ${stepOf(steps, Prisma.sql`at`)} AS step, nullif(name, '') AS "group", sum(errors)::bigint AS errors,
           string_agg(durations, ''::bytea) AS durations, string_agg(first_tokens, ''::bytea) AS "firstTokens"
      FROM measured GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ${MAX_USAGE_ROWS + 1}`
  return rows.map(({ step, group, errors, durations, firstTokens }) => ({
    step,
    group,
    errors: Number(errors),
    durations: readHistogram(durations),
    firstTokens: readHistogram(firstTokens),
  }))
}
