import { openDatabase } from '@gateway/database/client'
import type { BenchNeeds } from '../benches.ts'
import { durablePostgres } from '../house/durable-postgres.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { inTurns, type Variant } from '../load/rounds.ts'
import { profiled } from '../profile/profiled.ts'
import { describeRun } from '../report/machine.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'
import { admission, keyedAdmission } from './items.ts'
import { checkBooks, sayFinding } from '../house/ledger-parts.ts'
import { naiveAdmission } from './naive-transaction.ts'
import { lanesUnderTest } from './through-lanes.ts'
import { buildWallets, type BenchWorld } from './wallets.ts'

// How many admissions a second one wallet takes: through the ledger's lanes, and by an interactive Prisma transaction each,
// on the same Postgres in turns. Every admission makes every check and is durable before it is answered.

const NAIVE_POOL = 16
const MANY_WALLETS = 200
const CLIENTS = [1, 16, 64]

const now = () => performance.now()

export async function hotWallet({ options, stops, tell }: BenchNeeds): Promise<string> {
  tell('Starting a private Postgres and building the wallets')
  const postgres = await durablePostgres(stops)
  const world = await buildWallets(postgres.adminUrl, MANY_WALLETS)
  const laneDatabase = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-lanes' })
  stops.add(laneDatabase.close)
  const naiveDatabase = await openDatabase({ url: postgres.ledgerUrl, poolSize: NAIVE_POOL, role: 'bench-naive' })
  stops.add(naiveDatabase.close)
  const lanes = lanesUnderTest(laneDatabase, now)
  const naive = naiveAdmission(naiveDatabase)
  const naiveOpen: string[] = []

  const { busy, many, empty } = world
  const settleAll = async () => void (await lanes.settleAll())
  const loop = (clients: number, call: (n: number) => Promise<unknown>) => async () =>
    figuresOf(await closedLoop({ clients, lastsMs: options.roundMs, call, now }))
  const variants: Variant[] = [
    ...CLIENTS.flatMap((clients) => [
      {
        name: lanesName(clients),
        measure: loop(clients, (n) => lanes.admit(admission(world, busy, n))),
        after: settleAll,
      },
      {
        name: naiveName(clients),
        measure: loop(clients, async (n) => naiveOpen.push(await naive(admission(world, world.naive, n)))),
      },
    ]),
    {
      name: 'admit, then settle: lanes, 64 clients',
      measure: loop(64, (n) => lanes.admitAndSettle(admission(world, busy, n))),
    },
    {
      name: 'keyed admissions: lanes, 64 clients',
      measure: loop(64, (n) => lanes.admit(keyedAdmission(world, busy, n))),
      after: settleAll,
    },
    {
      name: `${MANY_WALLETS} wallets: lanes, 64 clients`,
      measure: loop(64, (n) => lanes.admit(admission(world, many[n % many.length]!, n))),
      after: settleAll,
    },
    {
      name: 'refusals on an empty wallet: lanes, 64 clients',
      measure: loop(64, (n) => lanes.refuse(admission(world, empty, n))),
    },
  ]

  tell('Warming up')
  await inTurns({ rounds: 1, variants, tell: () => {} })
  const measured = await inTurns({ rounds: options.rounds, variants, tell })
  if (options.profile !== null) {
    const busyLanes = variants.find(({ name }) => name === lanesName(64))!
    tell(await profiled(busyLanes.measure))
    await busyLanes.after?.()
  }

  tell('Checking the books')
  await checkAll(laneDatabase, world, naiveOpen)
  return report(measured, await describeRun(new Date()))
}

const lanesName = (clients: number) => `admissions: lanes, ${clients} client${clients === 1 ? '' : 's'}`
const naiveName = (clients: number) => `admissions: naive, ${clients} client${clients === 1 ? '' : 's'}`

/** Throws unless every balance follows from the journal and the naive wallet holds what was admitted to it. */
async function checkAll(
  database: Awaited<ReturnType<typeof openDatabase>>,
  world: BenchWorld,
  naiveOpen: string[],
): Promise<void> {
  const { findings } = await checkBooks(database, { whole: true })
  if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(sayFinding).join('\n')}`)
  const open = await database.prisma.reservation.groupBy({ by: ['project'], _count: true })
  const expected = [{ project: world.naive.project, count: naiveOpen.length }]
  const found = open.map(({ project, _count: count }) => ({ project, count }))
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`Open are ${JSON.stringify(found)} and not ${JSON.stringify(expected)}.`)
}

function report(measured: Map<string, Figures[]>, run: string): string {
  const of = (name: string) => measured.get(name)!
  const busiest = 64
  const lanes = medianFigures(of(lanesName(busiest)))
  const rows = [...measured].map(([name, rounds]) => {
    const clients = CLIENTS.find((count) => lanesName(count) === name)
    const against = clients === undefined ? '' : times(ratio(rounds, of(naiveName(clients))))
    return [name, ...cells(medianFigures(rounds)), against]
  })
  return [
    run,
    table(['one wallet, all checks, durable', '/s', 'p50', 'p99', 'to naive'], rows),
    sayTargets([
      {
        what: `lanes to naive at ${busiest} clients`,
        wanted: 30,
        found: ratio(of(lanesName(busiest)), of(naiveName(busiest))),
        better: 'more',
        say: times,
      },
      { what: `p99 at ${busiest} clients`, wanted: 8, found: lanes.p99Ms, better: 'less', say: ms },
    ]),
  ].join('\n\n')
}
