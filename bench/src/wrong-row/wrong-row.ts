import { openDatabase } from '@gateway/database/client'
import { openFixture } from '@gateway/testbed/fixture'
import type { BenchDeps } from '../bench.ts'
import { admission, settlement } from '../hot-wallet/items.ts'
import { buildWallets } from '../hot-wallet/wallets.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { inTurns } from '../load/rounds.ts'
import { profiled } from '../profile/profiled.ts'
import { describeRun } from '../report/machine.ts'
import { cells, table, times } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'
import { durablePostgres } from '../stack/durable-postgres.ts'
import { checkBooks, openAdmissionBatcher, openSetAside, sayFinding } from '../stack/ledger-parts.ts'
import { breakProject } from './broken-project.ts'

// Calls of a busy project through the ledger's batcher: alone, and beside a project whose wallet is wrong while its
// settlements are repeated and it goes on calling. Afterwards the row is mended, and everything has to be settled.

const CLIENTS = 64
/** As services/ledger/src/config.ts has them by default. */
const LIMITS = { batchesInFlight: 1, batchItems: 512, batchBytes: 1024 * 1024, waitingAdmissions: 10_000 }
const BUDGET_MS = 60_000
/** Beyond every back-off of what is set aside. */
const LONG_MS = 200_000

const ALONE = 'the busy project alone'
const BESIDE = 'beside a project whose wallet is wrong'

const now = () => performance.now()

export async function wrongRow({ options, stops, tell }: BenchDeps): Promise<string> {
  tell('Starting a private Postgres and building the wallets')
  const postgres = await durablePostgres(stops)
  const fixture = await buildWallets(postgres.adminUrl, options.rounds + 2)
  const admissions = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-batchers' })
  stops.add(admissions.close)
  const reads = await openDatabase({ url: postgres.ledgerUrl, poolSize: 4, role: 'bench-reads' })
  stops.add(reads.close)
  const admin = await openFixture(postgres.adminUrl)
  stops.add(admin.close)

  let aheadMs = 0
  const ledgerNow = () => now() + aheadMs
  const nothing = () => {}
  const metrics = {
    batch: nothing,
    lockedOut: nothing,
    keepFailed: nothing,
    settledMore: nothing,
    fenced: nothing,
    answersLost: nothing,
  }
  const setAside = openSetAside({ now: ledgerNow })
  let refused = 0
  const admissionBatcher = openAdmissionBatcher(
    {
      admissions,
      reads,
      setAside,
      metrics: { ...metrics, setAside: () => void refused++ },
      now: ledgerNow,
    },
    LIMITS,
  )

  async function call(n: number): Promise<void> {
    const item = admission(fixture, fixture.busy, n)
    for (const each of [item, settlement(item.id)]) {
      const { kind } = await admissionBatcher.submit(each, BUDGET_MS)
      if (kind !== 'admitted' && kind !== 'settled') throw new Error(`a call of the busy project was ${kind}`)
    }
  }
  const load = async () => figuresOf(await closedLoop({ clients: CLIENTS, lastsMs: options.roundMs, call, now }))

  const broken = fixture.many.values()
  const kept: number[] = []
  async function besideBrokenProject(): Promise<Figures> {
    const wallet = broken.next().value!
    const project = await breakProject({ admissionBatcher, setAside, reads, run: admin.run, fixture, wallet })
    const figures = await load()
    await project.end()
    tell(`  ${JSON.stringify(project.seen)}, refused alone ${refused} times`)
    refused = 0
    aheadMs += LONG_MS
    kept.push(await project.mend())
    return figures
  }
  const variants = [
    { name: ALONE, measure: load },
    { name: BESIDE, measure: besideBrokenProject },
  ]

  tell('Warming up')
  await inTurns({ rounds: 1, variants, tell: nothing })
  const measured = await inTurns({ rounds: options.rounds, variants, tell })
  if (options.profile !== null) tell(await profiled(besideBrokenProject))

  tell('Checking the books')
  const { findings } = await checkBooks(reads, { whole: true })
  if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(sayFinding).join('\n')}`)
  const [open, left] = [await reads.prisma.reservation.count(), await reads.prisma.setAsideItem.count()]
  if (open + left > 0) throw new Error(`${open} reservations are open and ${left} settlements kept after the mending.`)
  return report(measured, kept, await describeRun(new Date()))
}

function report(measured: Map<string, Figures[]>, kept: number[], run: string): string {
  const [alone, beside] = [measured.get(ALONE)!, measured.get(BESIDE)!]
  const speed = ratio(beside, alone)
  const slowness = median(beside.map(({ p99Ms }, n) => p99Ms / alone[n]!.p99Ms))
  return [
    run,
    table(
      ['admit, then settle, 64 clients', '/s', 'p50', 'p99', 'to alone'],
      [
        [ALONE, ...cells(medianFigures(alone)), ''],
        [BESIDE, ...cells(medianFigures(beside)), times(speed)],
      ],
    ),
    `Of the broken project ${kept.join(', ')} settlements were kept and settled after the mending; the books add up.`,
    sayTargets([
      { what: 'calls a second, to those alone', wanted: 0.9, found: speed, better: 'more', say: times },
      { what: 'p99, to that alone', wanted: 2, found: slowness, better: 'less', say: times },
    ]),
  ].join('\n\n')
}
