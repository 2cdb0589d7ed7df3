import { openDatabase, type Database } from '@gateway/database/client'
import type { BenchDeps } from '../bench.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { inTurns } from '../load/rounds.ts'
import { describeRun } from '../report/machine.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { composeUsage, partsOfCells, usageCells, usageSteps } from '../stack/console-parts.ts'
import { durablePostgres } from '../stack/durable-postgres.ts'
import { checkUsage, rollUpUsage } from '../stack/ledger-parts.ts'
import { withFixture } from '../stack/with-fixture.ts'
import { CALLS, FROM, makeCalls, TAIL, TO } from './make-calls.ts'

// A usage page of a month, as the console reads it: from the hours that the ledger has rolled up and the calls after
// them, compared with adding up every call; and its latency, from the buckets of those hours, compared with sorting every
// call. The calls are inserted by SQL; the ledger itself rolls them up.

const project = 'prj_usage'
const WANTED_MS = 50
const groupings = ['model', 'key', 'day'] as const
/** For a chart by the days of a zone, and for its totals. The slowest has the most rows to add up. */
const latencyGroupings = ['model', 'key'] as const
const WANTED_LATENCY_MS = 300
const ZONE = 'Europe/Berlin'

const now = () => performance.now()

export async function usagePage({ options, stops, log }: BenchDeps): Promise<string> {
  const postgres = await durablePostgres(stops)
  log(`Making ${CALLS.toLocaleString('en-US')} calls`)
  await withFixture(postgres.adminUrl, (fixture) => makeCalls(fixture, project, 'most'))
  const ledger = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-ledger' })
  stops.add(ledger.close)
  log('Rolling them up')
  const begunMs = now()
  await rollUpUsage({ reads: ledger, log: { warn: failAloud } })
  const rolledUpPerSecond = (CALLS / (now() - begunMs)) * 1_000
  await withFixture(postgres.adminUrl, (fixture) => makeCalls(fixture, project, 'tail'))
  const findings = await checkUsage(ledger, project, 'hours')
  if (findings.length > 0) throw new Error(`The hours do not add up: ${JSON.stringify(findings[0], String)}`)

  const pages = await openDatabase({ url: postgres.consoleUrl, poolSize: 1, role: 'bench-console' })
  stops.add(pages.close)
  const loop = (call: () => Promise<unknown>) => async () =>
    figuresOf(await closedLoop({ clients: 1, lastsMs: options.roundMs, call, now }))
  const period = { project, from: FROM, to: TO }
  const variants = [
    ...groupings.flatMap((by) => [
      { name: `from hours, by ${by}`, measure: loop(() => usageCells(pages, { ...period, by })) },
      { name: `from every call, by ${by}`, measure: loop(() => fromEveryCall(ledger, by)) },
    ]),
    ...latencyGroupings.flatMap((by) => [
      { name: latencyName(by), measure: loop(() => readLatency(pages, period, by)) },
      { name: `percentiles of every call, by ${by}`, measure: loop(() => percentilesOfEveryCall(ledger, by)) },
    ]),
  ]
  const measured = await inTurns({ rounds: options.rounds, variants, log })
  return report(measured, rolledUpPerSecond, await describeRun(new Date()))
}

function failAloud({ err }: { err: unknown }): never {
  throw new Error('The usage of the project could not be rolled up.', { cause: err })
}

const latencyName = (by: (typeof latencyGroupings)[number]) => `percentiles from hours, by ${by}`

/** Latency of a page: of each group by day, of each group, of each day, and of all calls. */
async function readLatency(
  pages: Pick<Database, 'prisma'>,
  period: { project: string; from: Date; to: Date },
  by: (typeof latencyGroupings)[number],
): Promise<unknown> {
  const steps = usageSteps(period, 'day', ZONE)
  const { from, to } = steps
  const cells = await usageCells(pages, { project, from, to, by, steps, withLatency: true })
  return composeUsage(partsOfCells(cells), String, { withLatency: true })
}

/** The query of a page without the buckets, for totals alone. */
function percentilesOfEveryCall(
  { prisma }: Pick<Database, 'prisma'>,
  by: (typeof latencyGroupings)[number],
): Promise<unknown> {
  return prisma.$queryRawUnsafe(
    `SELECT ${columnOf[by]} AS "group", percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM closed_at - admitted_at)) AS duration,
            percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY first_token_ms) AS first_token
       FROM money.attempts WHERE project = $1 AND state = 'Settled' AND admitted_at >= $2 AND admitted_at < $3 GROUP BY 1`,
    project,
    FROM,
    TO,
  )
}

const columnOf = { model: 'product', key: 'key', day: `to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')` }

/** The query of a page without the hours. */
function fromEveryCall({ prisma }: Pick<Database, 'prisma'>, by: (typeof groupings)[number]): Promise<unknown> {
  const group = columnOf[by]
  return prisma.$queryRawUnsafe(
    `SELECT ${group} AS "group", count(*) AS calls, sum(prompt_tokens)::bigint AS prompt,
            sum(completion_tokens)::bigint AS completion, sum(charged_micro)::bigint AS charged
       FROM money.attempts WHERE project = $1 AND state = 'Settled' AND admitted_at >= $2 AND admitted_at < $3
      GROUP BY 1 ORDER BY 1`,
    project,
    FROM,
    TO,
  )
}

function report(measured: Map<string, Figures[]>, rolledUpPerSecond: number, run: string): string {
  const of = (name: string) => measured.get(name)!
  const rows = [...measured].map(([name, rounds]) => {
    const other = name
      .replace('percentiles from hours', 'percentiles of every call')
      .replace('from hours', 'from every call')
    return [name, ...cells(medianFigures(rounds)), other === name ? '' : times(ratio(rounds, of(other)))]
  })
  const slowest = Math.max(...groupings.map((by) => medianFigures(of(`from hours, by ${by}`)).p50Ms))
  const slowestLatency = Math.max(...latencyGroupings.map((by) => medianFigures(of(latencyName(by))).p99Ms))
  const calls = CALLS.toLocaleString('en-US')
  return [
    run,
    table([`a month with ${calls} calls, ${TAIL.toLocaleString('en-US')} not rolled up`, '/s', 'p50', 'p99', ''], rows),
    `Rolled up: ${Math.round(rolledUpPerSecond).toLocaleString('en-US')} calls a second.`,
    formatTargets([
      { what: 'p50 of the slowest page', wanted: WANTED_MS, found: slowest, better: 'less', say: ms },
      {
        what: 'p99 of the slowest percentiles',
        wanted: WANTED_LATENCY_MS,
        found: slowestLatency,
        better: 'less',
        say: ms,
      },
    ]),
  ].join('\n\n')
}
