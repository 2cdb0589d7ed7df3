import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fixture } from '@gateway/testbed/fixture'
import { startSilentNameServer } from '@gateway/testbed/silent-name-server'
import type { BenchDeps } from '../bench.ts'
import { ms, table, times } from '../report/table.ts'
import type { Target } from '../report/targets.ts'
import type { Edge } from './edge.ts'
import { openRevocations, repeatFor, revocationTarget } from './revocations.ts'

const PROJECTS = 4
/** As many as a project may have by default. */
const WEBHOOKS_EACH = 5
/** Due at each of them from the start, so that more are due than can be tried. */
const NOTICES_EACH = 200
const TIMES_QUIET = 2

/** A worker, and a console whose users revoke keys, on a machine whose name server never answers. */
export async function silentNames({ stops }: BenchDeps) {
  const { environment, close } = await startSilentNameServer()
  stops.add(async () => close())
  const quiet = { LOG_LEVEL: 'error', ...environment }
  return { consoles: 1, workers: 1, environment: { ledger: () => quiet, worker: () => quiet, console: () => quiet } }
}

interface Round {
  p99: number
  revocationsMs: number[]
  noticesMs: number[]
}

/** What webhooks on a host whose name servers never answer cost a neighbour: their calls, notices and revocations. */
export async function silentWebhooks(edge: Edge, { log, stops, options: { roundMs } }: BenchDeps) {
  const { stack, fixture, tenant, measureCalls } = edge
  const revoke = await openRevocations(stack.gateways[0]!.url, fixture, tenant)
  const notify = await openNotices(edge, stops)
  const round = async (): Promise<Round> => {
    const [{ p99 }, revocationsMs, noticesMs] = await Promise.all([
      measureCalls(roundMs),
      repeatFor(roundMs, revoke),
      repeatFor(roundMs, notify),
    ])
    return { p99, revocationsMs, noticesMs }
  }

  log('Warming up')
  await round()
  log('Quiet')
  const quiet = await round()
  log(`${PROJECTS * WEBHOOKS_EACH} webhooks with ${NOTICES_EACH} due notices each`)
  const projects = await openSilentProjects(edge)
  const busy = await round()
  const { rows: tries } = await fixture.run(
    `SELECT coalesce(sum(d.tries), 0)::int AS posts, count(*) FILTER (WHERE d.tries = 0)::int AS left
       FROM money.webhook_deliveries d JOIN money.webhooks w ON w.id = d.webhook WHERE w.project = ANY ($1)`,
    [projects],
  )
  const { posts, left } = tries[0] as { posts: number; left: number }
  const row = (what: string, { p99, revocationsMs, noticesMs }: Round) => [
    what,
    ms(p99),
    String(revocationsMs.length),
    ms(Math.max(...revocationsMs)),
    String(noticesMs.length),
    ms(Math.max(...noticesMs)),
  ]
  return {
    said: `
${PROJECTS * WEBHOOKS_EACH} webhooks of ${PROJECTS} projects on one host, with one worker: ${posts} posts were tried meanwhile, and ${left} notices waited for their first.

${table(
  ['of a neighbour', 'p99 of calls', 'revocations', 'slowest', 'notices', 'longest until posted'],
  [row('quiet', quiet), row('meanwhile', busy)],
)}`,
    targets: [
      {
        what: "neighbour's p99 to that of quiet",
        wanted: TIMES_QUIET,
        found: busy.p99 / quiet.p99,
        better: 'less',
        say: times,
      },
      revocationTarget('meanwhile', busy.revocationsMs),
    ] satisfies Target[],
  }
}

/** Returns what writes a notice of the neighbour, and measures how long it takes to arrive at their webhook. */
async function openNotices({ fixture, tenant }: Edge, stops: BenchDeps['stops']): Promise<() => Promise<number>> {
  const receiver = createServer((req, res) => req.resume().on('end', () => res.end())).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  stops.add(async () => void receiver.close())
  await createWebhook(fixture, tenant.project.id, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
  return async () => {
    const arrived = once(receiver, 'request')
    const startMs = performance.now()
    await writeNotices(fixture, tenant.project.id, 1)
    await arrived
    return performance.now() - startMs
  }
}

/** Returns the projects. */
async function openSilentProjects({ fixture }: Edge): Promise<string[]> {
  const of = await fixture.tenant()
  const projects: string[] = []
  for (let n = 0; n < PROJECTS; n++) {
    const { id } = await fixture.project(of)
    for (let m = 0; m < WEBHOOKS_EACH; m++) await createWebhook(fixture, id, `http://silent.example.com/${m}`)
    await writeNotices(fixture, id, NOTICES_EACH)
    projects.push(id)
  }
  return projects
}

/** Creates one that is not signed, so that it needs no key of the ledger. */
async function createWebhook(fixture: Fixture, project: string, url: string): Promise<void> {
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, kind, url, created_by, created_at) VALUES ($1, $2, 'slack', $3, 'usr_bench', now())`,
    [fixture.id('whk'), project, url],
  )
}

/** Writes notices that are due at every webhook of a project. */
async function writeNotices(fixture: Fixture, project: string, count: number): Promise<void> {
  await fixture.run(
    `WITH written AS (
       INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
       SELECT $1 || n, $2, 'wallet.below', 5, 4, now() FROM generate_series(1, $3) n RETURNING id)
     INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
     SELECT written.id, w.id, now() FROM written, money.webhooks w WHERE w.project = $2`,
    [fixture.id('ntc'), project, count],
  )
}
