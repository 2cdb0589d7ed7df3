import { callFunction } from '@gateway/database/call-function'
import { openDatabase, type Database } from '@gateway/database/client'
import type { BenchDeps } from '../bench.ts'
import { admission } from '../hot-wallet/items.ts'
import { batcherUnderTest, type BatcherUnderTest } from '../hot-wallet/through-batcher.ts'
import { buildWallets, type BenchFixture } from '../hot-wallet/wallets.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, type Figures } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { cells, table } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'
import { durablePostgres, type DurablePostgres } from '../stack/durable-postgres.ts'

// One busy wallet, while somebody keeps a snapshot of the primary. Each change of the wallet then leaves a version of its
// row that stays, and each look-up of it goes through them. Told is how fast the wallet still is, what the ledger's alert
// sees, and that the console can't be that somebody: its login has a time limit.

const CLIENTS = 16
const SLICES = 6
const ALERT_S = 30
/** Far beyond any limit of the console's login. */
const CONSOLE_ASKS_S = 120
const CONSOLE_WANTED_S = 10

const now = () => performance.now()

interface Slice {
  name: string
  figures: Figures
  /** What the metric ledger.transactions.oldest says at its end. */
  oldestS: number
}

export async function longSnapshot({ options, stops, tell }: BenchDeps): Promise<string> {
  tell('Starting a private Postgres and building the wallets')
  const postgres = await durablePostgres(stops)
  const fixture = await buildWallets(postgres.adminUrl, 0)
  const database = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-batchers' })
  stops.add(database.close)
  const reads = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-reads' })
  stops.add(reads.close)
  const batcher = batcherUnderTest(database, now)
  const sliceMs = options.roundMs / SLICES
  const slice = async (name: string): Promise<Slice> => {
    const figures = await callFor(sliceMs, batcher, fixture)
    const measured = { name, figures, oldestS: await oldestS(reads) }
    tell(`  ${name.padEnd(32)} ${figures.perSecond.toFixed(0)}/s, oldest transaction ${measured.oldestS.toFixed(1)} s`)
    return measured
  }

  await callFor(sliceMs, batcher, fixture)
  const before = await slice('without')
  const snapshot = await openSnapshot(postgres)
  stops.add(snapshot.end)
  const during: Slice[] = []
  for (let n = 1; n <= SLICES; n++) during.push(await slice(`${((n * sliceMs) / 1_000).toFixed(0)} s of a snapshot`))
  await snapshot.end()
  const after = await slice('after its end')

  tell('The console asks something that takes too long')
  const consoleS = await consoleKeptSnapshot(postgres, reads)
  return report({ before, during, after, consoleS, run: await describeRun(new Date()) })
}

async function callFor(lastsMs: number, batcher: BatcherUnderTest, fixture: BenchFixture): Promise<Figures> {
  const call = (n: number) => batcher.admitAndSettle(admission(fixture, fixture.busy, n))
  return figuresOf(await closedLoop({ clients: CLIENTS, lastsMs, call, now }))
}

async function oldestS({ sql }: Pick<Database, 'sql'>): Promise<number> {
  const { oldest_ms: ms } = await callFunction(sql, 'money.oldest_transaction', {})
  if (ms === null) throw new Error('The ledger may not see the sessions of others.')
  return Number(ms) / 1_000
}

/** A transaction that has looked once and is then kept, on a connection of its own. */
async function openSnapshot({ adminUrl }: DurablePostgres): Promise<{ end: () => Promise<void> }> {
  const somebody = await openDatabase({ url: adminUrl, poolSize: 1, role: 'bench-snapshot' })
  const taken = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const kept = somebody.prisma.$transaction(
    async (transaction) => {
      await transaction.$queryRawUnsafe('SELECT count(*)::int FROM money.wallets')
      taken.resolve()
      await released.promise
    },
    { isolationLevel: 'RepeatableRead', timeout: 3_600_000 },
  )
  await Promise.race([taken.promise, kept])
  let ended: Promise<void> | null = null
  return {
    end: () =>
      (ended ??= Promise.resolve(released.resolve())
        .then(() => kept)
        .then(somebody.close)),
  }
}

/** How long a question of the console could keep its snapshot, in seconds. Throws if nothing ended it. */
async function consoleKeptSnapshot({ consoleUrl }: DurablePostgres, reads: Database): Promise<number> {
  const { prisma, close } = await openDatabase({ url: consoleUrl, poolSize: 1, role: 'bench-console' })
  const askedMs = now()
  const ended = await prisma.$queryRawUnsafe('SELECT pg_sleep($1) FROM money.wallets LIMIT 1', CONSOLE_ASKS_S).then(
    () => null,
    (error: Error) => error,
  )
  const keptS = (now() - askedMs) / 1_000
  await close()
  if (ended === null) throw new Error('Nothing ended the question of the console.')
  if ((await oldestS(reads)) > keptS) throw new Error('The snapshot of the console outlived its question.')
  return keptS
}

interface Measured {
  before: Slice
  during: Slice[]
  after: Slice
  consoleS: number
  run: string
}

function report({ before, during, after, consoleS, run }: Measured): string {
  const slices = [before, ...during, after]
  const rows = slices.map(({ name, figures, oldestS }) => [
    name,
    ...cells(figures),
    percent(figures.perSecond / before.figures.perSecond),
    `${oldestS.toFixed(1)} s`,
  ])
  const seconds = (value: number) => `${value.toFixed(1)} s`
  const last = during.at(-1)!
  return [
    run,
    table([`one wallet, admit and settle, ${CLIENTS} clients`, '/s', 'p50', 'p99', 'of before', 'metric'], rows),
    sayTargets([
      { what: 'the metric of TransactionTooOld', wanted: ALERT_S, found: last.oldestS, better: 'more', say: seconds },
      {
        what: 'calls a second after its end, of before',
        wanted: 0.8,
        found: after.figures.perSecond / before.figures.perSecond,
        better: 'more',
        say: percent,
      },
      {
        what: 'how long a question of the console keeps its snapshot',
        wanted: CONSOLE_WANTED_S,
        found: consoleS,
        better: 'less',
        say: seconds,
      },
    ]),
  ].join('\n\n')
}

function percent(value: number): string {
  return `${(value * 100).toFixed(0)} %`
}
