import { consoleRoutes } from '@gateway/api/console-routes'
import { openDatabase } from '@gateway/database/client'
import type { Fixture } from '@gateway/testbed/fixture'
import { startServices } from '@gateway/testbed/service-stack'
import type { BenchDeps } from '../bench.ts'
import { percentile } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { rollUpUsage } from '../stack/ledger-parts.ts'
import { withFixture } from '../stack/with-fixture.ts'
import { callSql, fillCalls } from './fill-calls.ts'
import { fillLists } from './fill-lists.ts'
import { listRequests, type ListRequest, type Places, type ReadOperation } from './list-requests.ts'
import { idOf, sizeOf, type Size } from './size.ts'

// Every list and chart of the console, asked by one user with a session, one request after another: in a project with a
// million calls, 10,000 executions, 2,000 keys and 500 flows, in an installation with 10,000 other projects.

const WANTED_MS = 300
const MOST_REQUESTS = 30
const LEAST_REQUESTS = 3
const PRODUCTS = 8
/** Statuses of refusals that can only come from the size of the books. */
const TOO_MUCH = 400
const TOO_LONG = 503
const WALLETS_A_ROLL_UP = 10_000

interface Measured {
  what: string
  p50Ms: number
  p95Ms: number
  bytes: number
  /** Code of a refusal, or null. */
  refused: string | null
}

export async function consoleLists({ options, stops, log }: BenchDeps): Promise<string> {
  const size = sizeOf(options.calls!)
  const { postgres, redis } = await startBenchServers(stops)
  log(`Filling a project with ${size.calls.toLocaleString('en-US')} calls`)
  const { session, places } = await withFixture(postgres.adminUrl, (fixture) => fill(fixture, size, log))
  const database = await openDatabase({ url: postgres.ledgerUrl, poolSize: 1, role: 'bench-ledger' })
  stops.add(database.close)
  log('Rolling them up')
  for (let wallet = 0; wallet <= size.otherProjects; wallet += WALLETS_A_ROLL_UP)
    await rollUpUsage({ reads: database, log: { warn: failAloud } })
  await withFixture(postgres.adminUrl, ({ run }) => run('VACUUM (ANALYZE)'))
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    consoleUrl: postgres.consoleUrl,
    redisUrl: redis.url,
    gateways: 0,
    environment: { ledger: () => ({ CHECK_EVERY_SECONDS: '86400' }) },
  })
  stops.add(stack.stop)
  const get = reader(stack.console!.url, session)

  const measured: Measured[] = []
  for (const [operation, requests] of Object.entries(listRequests(places, new Date()))) {
    if (typeof requests === 'string') continue
    const { path } = consoleRoutes[operation as ReadOperation]
    for (const request of requests as readonly ListRequest<object>[]) {
      const url = await urlOf(get, pathOf(path, places), request)
      measured.push({ what: request.what, ...(await measure(() => get(url), options.roundMs)) })
      log(`  ${JSON.stringify(measured.at(-1))}`)
    }
  }
  return report(measured, size, await describeRun(new Date()))
}

function failAloud({ err }: { err: unknown }): never {
  throw new Error('The usage of a project could not be rolled up.', { cause: err })
}

/** Fills the tables, except what the ledger derives from them. */
async function fill(
  fixture: Fixture,
  size: Size,
  log: (line: string) => void,
): Promise<{ session: string; places: Places }> {
  const { tenant, team, owner } = await fixture.tenant()
  await fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [owner])
  const { id: project } = await fixture.project({ tenant, team, owner })
  const products: string[] = []
  for (let n = 1; n <= PRODUCTS; n++) products.push(await fixture.publishProduct({ id: `acme/model-${n}` }))
  await fixture.assign(project, ...products)
  const filled = { id: project, products, toMs: Date.now() }
  await fillCalls(fixture, size, filled, log)
  log('Filling the other lists')
  await fillLists(fixture, size, { tenant, team, project, owner })
  const { rows } = await fixture.run(
    `SELECT ${callSql(size, filled).executionId(String(size.executions - 2))} AS execution`,
  )
  const { secret: session } = await fixture.session(owner)
  return {
    session,
    places: {
      tenant,
      team,
      project,
      projectName: 'Project 12',
      key: idOf('key', 0),
      product: products[0]!,
      user: idOf('usr', 1),
      userEmail: 'member1@example.test',
      sandbox: idOf('sbx', 0),
      execution: (rows as { execution: string }[])[0]!.execution,
      webhook: idOf('whk', 0),
    },
  }
}

interface Answer {
  status: number
  text: string
}
type Get = (url: string) => Promise<Answer>

function reader(baseUrl: string, session: string): Get {
  return async (url) => {
    const answer = await fetch(`${baseUrl}${url}`, { headers: { cookie: `svc_session=${session}` } })
    return { status: answer.status, text: await answer.text() }
  }
}

function pathOf(path: string, places: Places): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(places[name as keyof Places]))
}

/** The address of a request, after the cursors of the pages before; of the last page if there are fewer. */
async function urlOf(get: Get, path: string, { query, page = 1 }: ListRequest<object>): Promise<string> {
  const url = (cursor?: string) => {
    const asked = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) } as Record<string, string>)
    return `${path}?${asked.toString()}`
  }
  let found = url()
  for (let n = 1; n < page; n++) {
    const { nextCursor } = JSON.parse((await get(found)).text) as { nextCursor: string | null }
    if (nextCursor === null) break
    found = url(nextCursor)
  }
  return found
}

/** Asks once to warm up, and then until it has asked often enough or the time is up. */
async function measure(ask: () => Promise<Answer>, lastsMs: number): Promise<Omit<Measured, 'what'>> {
  const { status, text } = await ask()
  if (![200, TOO_MUCH, TOO_LONG].includes(status)) throw new Error(`Answered ${status}: ${text.slice(0, 300)}`)
  const tookMs: number[] = []
  const endMs = performance.now() + lastsMs
  while (tookMs.length < LEAST_REQUESTS || (tookMs.length < MOST_REQUESTS && performance.now() < endMs)) {
    const startMs = performance.now()
    await ask()
    tookMs.push(performance.now() - startMs)
  }
  const ascending = Float64Array.from(tookMs).toSorted()
  const refused = status === 200 ? null : (JSON.parse(text) as { error: { code: string } }).error.code
  return {
    p50Ms: percentile(ascending, 50),
    p95Ms: percentile(ascending, 95),
    bytes: Buffer.byteLength(text),
    refused,
  }
}

function report(measured: Measured[], size: Size, run: string): string {
  const rows = measured.toSorted((a, b) => b.p95Ms - a.p95Ms)
  const slow = rows.filter(({ p95Ms }) => p95Ms > WANTED_MS)
  const refused = rows.filter((row) => row.refused !== null)
  const count = (of: number) => of.toLocaleString('en-US')
  return [
    run,
    `A project with ${count(size.calls)} calls in 30 days, ${count(size.executions)} executions, ${count(size.keys)} keys and ${count(size.flows)} flows, among ${count(size.otherProjects)} other projects. One client.`,
    table(
      ['list or chart', 'p50', 'p95', 'answer'],
      rows.map(({ what, p50Ms, p95Ms, bytes, refused: code }) => [
        what,
        ms(p50Ms),
        ms(p95Ms),
        code === null ? `${(bytes / 1024).toFixed(1)} KiB` : code,
      ]),
    ),
    `${slow.length} of ${rows.length} are above ${WANTED_MS} ms; ${refused.length} are refused.`,
    formatTargets([
      {
        what: 'p95 of the slowest list or chart',
        wanted: WANTED_MS,
        found: rows[0]!.p95Ms,
        better: 'less',
        say: ms,
      },
    ]),
  ].join('\n\n')
}
