import { openDatabase } from '@gateway/database/client'
import type { BenchDeps } from '../bench.ts'
import { durablePostgres } from '../stack/durable-postgres.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { inTurns, type Variant } from '../load/rounds.ts'
import { profiled } from '../profile/profiled.ts'
import { describeRun } from '../report/machine.ts'
import { cells, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { admission, keyedAdmission } from './items.ts'
import { checkBooks, formatFinding } from '../stack/ledger-parts.ts'
import { naiveAdmission } from './naive-transaction.ts'
import { batcherUnderTest } from './through-batcher.ts'
import { buildWallets, type BenchFixture } from './wallets.ts'

// Admissions per second of one wallet: through the ledger's batchers, and through an interactive Prisma transaction
// each, on the same Postgres in turns. Every admission runs every check and is durable before its response.

const NAIVE_POOL = 16
const MANY_WALLETS = 200
const CLIENTS = [1, 16, 64]

const now = () => performance.now()

export async function hotWallet({ options, stops, log }: BenchDeps): Promise<string> {
  log('Starting a private Postgres and building the wallets')
  const postgres = await durablePostgres(stops)
  const fixture = await buildWallets(postgres.adminUrl, MANY_WALLETS)
  const batcherDatabase = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-batchers' })
  stops.add(batcherDatabase.close)
  const naiveDatabase = await openDatabase({ url: postgres.ledgerUrl, poolSize: NAIVE_POOL, role: 'bench-naive' })
  stops.add(naiveDatabase.close)
  const admissionBatcher = await batcherUnderTest(batcherDatabase, now)
  const naive = naiveAdmission(naiveDatabase)
  const naiveOpen: string[] = []

  const { busy, many, empty } = fixture
  const settleAll = async () => void (await admissionBatcher.settleAll())
  const loop = (clients: number, call: (n: number) => Promise<unknown>) => async () =>
    figuresOf(await closedLoop({ clients, lastsMs: options.roundMs, call, now }))
  const variants: Variant[] = [
    ...CLIENTS.flatMap((clients) => [
      {
        name: batcherName(clients),
        measure: loop(clients, (n) => admissionBatcher.admit(admission(fixture, busy, n))),
        after: settleAll,
      },
      {
        name: naiveName(clients),
        measure: loop(clients, async (n) => naiveOpen.push(await naive(admission(fixture, fixture.naive, n)))),
      },
    ]),
    {
      name: 'admit, then settle: batchers, 64 clients',
      measure: loop(64, (n) => admissionBatcher.admitAndSettle(admission(fixture, busy, n))),
    },
    {
      name: 'keyed admissions: batchers, 64 clients',
      measure: loop(64, (n) => admissionBatcher.admit(keyedAdmission(fixture, busy, n))),
      after: settleAll,
    },
    {
      name: `${MANY_WALLETS} wallets: batchers, 64 clients`,
      measure: loop(64, (n) => admissionBatcher.admit(admission(fixture, many[n % many.length]!, n))),
      after: settleAll,
    },
    {
      name: 'refusals on an empty wallet: batchers, 64 clients',
      measure: loop(64, (n) => admissionBatcher.refuse(admission(fixture, empty, n))),
    },
  ]

  log('Warming up')
  await inTurns({ rounds: 1, variants, log: () => {} })
  const measured = await inTurns({ rounds: options.rounds, variants, log })
  if (options.profile !== null) {
    const batchesInFlight = variants.find(({ name }) => name === batcherName(64))!
    log(await profiled(batchesInFlight.measure))
    await batchesInFlight.after?.()
  }

  log('Checking the books')
  await checkAll(batcherDatabase, fixture, naiveOpen)
  return report(measured, await describeRun(new Date()))
}

const batcherName = (clients: number) => `admissions: batchers, ${clients} client${clients === 1 ? '' : 's'}`
const naiveName = (clients: number) => `admissions: naive, ${clients} client${clients === 1 ? '' : 's'}`

/** Throws unless every balance follows from the journal and the naive wallet has its admissions reserved. */
async function checkAll(
  database: Awaited<ReturnType<typeof openDatabase>>,
  fixture: BenchFixture,
  naiveOpen: string[],
): Promise<void> {
  const { findings } = await checkBooks(database, { whole: true })
  if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(formatFinding).join('\n')}`)
  const open = await database.prisma.reservation.groupBy({ by: ['project'], _count: true })
  const expected = [{ project: fixture.naive.project, count: naiveOpen.length }]
  const found = open.map(({ project, _count: count }) => ({ project, count }))
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`Open are ${JSON.stringify(found)} and not ${JSON.stringify(expected)}.`)
}

function report(measured: Map<string, Figures[]>, run: string): string {
  const of = (name: string) => measured.get(name)!
  const busiest = 64
  const rows = [...measured].map(([name, rounds]) => {
    const clients = CLIENTS.find((count) => batcherName(count) === name)
    const against = clients === undefined ? '' : times(ratio(rounds, of(naiveName(clients))))
    return [name, ...cells(medianFigures(rounds)), against]
  })
  return [
    run,
    table(['one wallet, all checks, durable', '/s', 'p50', 'p99', 'to naive'], rows),
    formatTargets([
      {
        what: `batchers to naive at ${busiest} clients`,
        wanted: 80,
        found: ratio(of(batcherName(busiest)), of(naiveName(busiest))),
        better: 'more',
        say: times,
      },
      {
        what: `p99 of naive to that of batchers, ${busiest} clients`,
        wanted: 40,
        found: medianFigures(of(naiveName(busiest))).p99Ms / medianFigures(of(batcherName(busiest))).p99Ms,
        better: 'more',
        say: times,
      },
    ]),
  ].join('\n\n')
}
