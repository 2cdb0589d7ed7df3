import { openDatabase } from '@gateway/database/client'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import type { BenchDeps } from '../bench.ts'
import { admission } from '../hot-wallet/items.ts'
import { batcherUnderTest } from '../hot-wallet/through-batcher.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, median } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { checkBooks, rollUpUsage, formatFinding } from '../stack/ledger-parts.ts'
import { PLENTY } from '../stack/with-fixture.ts'
import { archiveGrowth, type ArchivedGrowth } from './archive-growth.ts'
import { growAround, openAround } from './grow-around.ts'
import { growTo, type Growth, type GrownProject } from './grow-books.ts'
import { measureReads, reportReads } from './growing-reads.ts'

// What grows with the ledger, and what must not: the same operations on the same database, first empty and then with
// more and more calls.

const SIZES = [0, 100_000, 1_000_000, 10_000_000]
/** At this size the ledger is verified from the first entry. */
const PROVED = 1_000_000
const CLIENTS = 64
const PROJECTS = 20
const ASKED = 21
const MONTH_MS = 30 * 86_400_000
const WANTED = 1.3
const USAGE_MS = 50
const MOVED_MS = 500

const now = () => performance.now()

/** The figures; milliseconds except the first. */
const FIGURES = {
  perSecond: 'admissions a second, 64 clients',
  p99: 'their p99',
  models: 'the list of models',
  page: 'a page of invocations',
  usage: 'usage of a month, by day',
  check: 'a round of the check',
  start: 'start of a ledger',
} as const
type Measured = Record<keyof typeof FIGURES | 'bytes', number>

interface GrowingStack {
  fixture: Fixture
  stack: ServiceStack
  admit: (lastsMs: number) => Promise<{ perSecond: number; p99Ms: number }>
  database: Awaited<ReturnType<typeof openDatabase>>
  ask: Record<'models' | 'page' | 'usage', () => Promise<void>>
}

export async function growth({ options, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres, Redis, ledger, gateway and console')
  const { postgres, redis } = await startBenchServers(stops)
  const fixture = await openFixture(postgres.adminUrl)
  stops.add(fixture.close)
  const { grown, busy, token, tenant, owner, secret } = await build(fixture)
  const around = await openAround(fixture, grown, { tenant, owner })
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    consoleUrl: postgres.consoleUrl,
    redisUrl: redis.url,
    environment: { ledger: () => ({ CHECK_EVERY_SECONDS: '3600' }) }, // each round runs its check itself
  })
  stops.add(stack.stop)
  const database = await openDatabase({ url: postgres.ledgerUrl, poolSize: 2, role: 'bench-growth' })
  stops.add(database.close)
  const batcher = await batcherUnderTest(database, now)
  const monthUrl = `from=${iso(grown.endMs - MONTH_MS)}&to=${iso(grown.endMs)}`
  const ofTenant = `${stack.console!.url}/api/v2/tenants/${tenant}`
  const project = `${ofTenant}/projects/${grown.projects[0]!.id}`
  const growing: GrowingStack = {
    fixture,
    stack,
    database,
    async admit(lastsMs) {
      await live(fixture, busy.instance)
      const call = (n: number) => batcher.admit(admission(busy, busy.wallet, n))
      const figures = figuresOf(await closedLoop({ clients: CLIENTS, lastsMs, call, now }))
      await batcher.settleAll()
      return figures
    },
    ask: {
      models: () => get(`${stack.gateways[0]!.url}/v1/models`, secret),
      page: () => get(`${project}/invocations?limit=50`, token),
      usage: () => get(`${project}/usage?by=day&${monthUrl}`, token),
    },
  }

  await growing.admit(options.roundMs) // warm
  const measured: Measured[] = []
  const reads: Record<string, number>[] = []
  for (const calls of SIZES.slice(0, 1 + Math.min(options.rounds, SIZES.length - 1))) {
    if (calls > 0) {
      log(`Growing the books to ${calls.toLocaleString('en-US')} calls`)
      const before = grown.calls
      await growTo(fixture, grown, calls, log)
      await growAround(fixture, grown, around, before)
      if (calls === PROVED) await proveBooks(database, true)
      await rollUpUsage({ reads: database, log: { warn: ({ err }) => log(String(err)) } })
    }
    measured.push(await measure(growing, options.roundMs, grown.calls))
    reads.push(await measureReads(grown, around, (path) => get(`${ofTenant}/${path}`, token)))
    log(`${calls.toLocaleString('en-US')} calls: ${JSON.stringify({ ...measured.at(-1), ...reads.at(-1) })}`)
  }
  log('Checking the books')
  await proveBooks(database)
  const archived = grown.calls === 0 ? null : await archiveGrowth(fixture, postgres, log)
  if (archived) await proveBooks(database, true) // after the archive
  const run = await describeRun(new Date())
  const users = reportReads(sizesOf(measured), reads)
  return [report(measured, run), users, ...(archived ? [formatArchive(archived, grown.calls)] : [])].join('\n\n')
}

/** From the first entry at a million calls, to prove that the rows created by SQL are a valid ledger. */
async function proveBooks(database: GrowingStack['database'], whole = false): Promise<void> {
  const { findings } = await checkBooks(database, { whole })
  if (findings.length > 0) throw new Error(`The books do not add up:\n${findings.map(formatFinding).join('\n')}`)
}

async function build(fixture: Fixture) {
  const tenant = await fixture.tenant()
  const model = await fixture.publishProduct({ id: 'bench/grown' })
  const instance = 'ins_bench_growth'
  const projects: GrownProject[] = []
  let secret = ''
  for (let n = 0; n < PROJECTS; n++) {
    const project = await fixture.project(tenant, PLENTY)
    await fixture.assign(project.id, model)
    const key = await fixture.key({ project, by: tenant.owner })
    secret ||= key.secret
    projects.push({ id: project.id, key: key.id, lineage: key.id })
  }
  const project = await fixture.project(tenant, PLENTY)
  await fixture.assign(project.id, model)
  const keys = [await fixture.key({ project, by: tenant.owner }), await fixture.key({ project, by: tenant.owner })]
  const wallet = { project: project.id, keyHashes: keys.map(({ hash }) => hash) }
  const { secret: token } = await fixture.token(tenant.owner)
  const startOfMonth = new Date()
  startOfMonth.setUTCDate(1)
  startOfMonth.setUTCHours(0, 0, 0, 0)
  const grown: Growth = { projects, model, instance, calls: 0, endMs: startOfMonth.getTime() }
  const busy = { model, instance, wallet, busy: wallet, naive: wallet, many: [], empty: wallet }
  return { grown, busy, token, tenant: tenant.tenant, owner: tenant.owner, secret }
}

async function measure(
  { fixture, stack, admit, database, ask }: GrowingStack,
  roundMs: number,
  calls: number,
): Promise<Measured> {
  const admissions = [await admit(roundMs), await admit(roundMs), await admit(roundMs)]
  const asked = async (question: () => Promise<void>) => {
    const tookMs: number[] = []
    for (let n = 0; n < ASKED; n++) tookMs.push(await took(question))
    return median(tookMs)
  }
  await checkBooks(database, {}) // up to here; the measured round then checks a second of calls
  await admit(MOVED_MS)
  const check = await took(async () => void (await checkBooks(database, {})))
  const ledger = stack.ledgers[0]!
  await ledger.stop()
  const start = await took(() => ledger.start())
  const { rows } = await fixture.run(`SELECT pg_database_size(current_database())::float8 AS bytes`)
  const [{ bytes }] = rows as [{ bytes: number }]
  return {
    perSecond: median(admissions.map(({ perSecond }) => perSecond)),
    p99: median(admissions.map(({ p99Ms }) => p99Ms)),
    models: await asked(ask.models),
    page: await asked(ask.page),
    usage: await asked(ask.usage),
    check,
    start,
    bytes: calls === 0 ? 0 : bytes / calls,
  }
}

/** The bench sends no heartbeats, and growing takes longer than an instance may be silent. */
async function live(fixture: Fixture, instance: string): Promise<void> {
  await fixture.run(
    `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms) VALUES ($1, 'gateway', now(), now(), 60000)
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), ended_at = NULL, monitor = NULL`,
    [instance],
  )
}

async function took(work: () => Promise<void>): Promise<number> {
  const startMs = now()
  await work()
  return now() - startMs
}

async function get(url: string, bearer: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 200)}`)
}

const iso = (at: number) => new Date(at).toISOString()

function formatArchive({ calls, seconds, fileBytes, before, after }: ArchivedGrowth, all: number): string {
  const bytes = (of: number, count: number) => (of / count).toFixed(0)
  return table(
    [`${calls.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} calls archived`, ''],
    [
      ['bytes a call in the database before', bytes(before, all)],
      ['bytes in the database that went, a call', bytes(before - after, calls)],
      ['bytes in files, a call', bytes(fileBytes, calls)],
      ['seconds a million calls', ((seconds / calls) * 1e6).toFixed(0)],
    ],
  )
}

const sizesOf = (measured: Measured[]) => measured.map((_, n) => SIZES[n]!.toLocaleString('en-US'))

function report(measured: Measured[], run: string): string {
  const empty = measured[0]!
  const full = measured.at(-1)!
  const say = (name: keyof typeof FIGURES, value: number) =>
    name === 'perSecond' ? Math.round(value).toLocaleString('en-US') : ms(value)
  const worse = (name: keyof typeof FIGURES) =>
    name === 'perSecond' ? empty[name] / full[name] : full[name] / empty[name]
  const names = Object.keys(FIGURES) as (keyof typeof FIGURES)[]
  const head = ['calls in the books', ...sizesOf(measured), 'worse by']
  const rows = names.map((name) => [
    FIGURES[name],
    ...measured.map((each) => say(name, each[name])),
    times(worse(name)),
  ])
  rows.push(['bytes a call, with indexes', ...measured.map(({ bytes }) => (bytes ? bytes.toFixed(0) : '')), ''])
  return [
    run,
    table(head, rows),
    formatTargets([
      ...names
        .filter((name) => name !== 'usage')
        .map((name) => ({
          what: `${FIGURES[name]}, full to empty`,
          wanted: WANTED,
          found: worse(name),
          better: 'less' as const,
          say: times,
        })),
      { what: FIGURES.usage, wanted: USAGE_MS, found: full.usage, better: 'less', say: ms },
    ]),
  ].join('\n\n')
}
