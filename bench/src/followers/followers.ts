import { setTimeout as wait } from 'node:timers/promises'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import type { BenchDeps } from '../bench.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { median, percentile } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { openStops } from '../stack/stops.ts'
import { PLENTY } from '../stack/with-fixture.ts'
import { type CrowdSettings, startCrowd } from './crowd.ts'

// Five hundred clients of one user follow one running execution in the console; a refused one tries again after one to two
// seconds. A user of another organization reads meanwhile, and revokes keys. Each round measures the neighbor before and
// during; then all followers disconnect. Once with the default limits, of which the followers soon meet theirs, and once
// with limits that admit them all.

const FOLLOWERS = 500
const READERS = 2
const REVOCATIONS = 10
const WANTED_RATIO = 2
const WANTED_REVOCATION_MS = 1_000
/** Until the console has noticed that all followers have disconnected. */
const LEAVE_MS = 1_000

const VARIANTS = [
  { name: 'default limits', console: {}, admitted: 8 },
  {
    name: 'limits that admit all',
    console: {
      MAX_FOLLOWERS_PER_USER: '1000',
      MAX_CONCURRENT_REQUESTS: '4000',
      MAX_CONCURRENT_REQUESTS_PER_USER: '1000',
    },
    admitted: FOLLOWERS,
  },
]

const TEXT = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
const flowOf = (product: string) => ({
  input: TEXT,
  output: TEXT,
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'ask', kind: 'product.chat', product, params: { max_tokens: 20 } },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.text', to: 'ask.prompt' },
    { from: 'ask.text', to: 'out.text' },
  ],
})

interface Measured {
  readP99Ms: number
  slowestRevocationMs: number
}

interface Round {
  before: Measured
  during: Measured
}

export async function followers({ options, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres and Redis')
  const { postgres, redis } = await startBenchServers(stops)
  const fixture = await openFixture(postgres.adminUrl)
  stops.add(fixture.close)
  const found: { name: string; rounds: Round[] }[] = []
  for (const { name, console, admitted } of VARIANTS) {
    const own = openStops()
    try {
      log(`Starting the services with ${name}`)
      const stack = await startServices({
        ledgerUrl: postgres.ledgerUrl,
        consoleUrl: postgres.consoleUrl,
        redisUrl: redis.url,
        workers: 1,
        environment: { console: () => console },
      })
      own.add(stack.stop)
      const progress = await startHeldExecution(stack, fixture)
      const measure = await openNeighbor(stack, fixture, options.roundMs)
      await measure() // warms up
      const rounds: Round[] = []
      for (let n = 1; n <= options.rounds; n++) {
        const before = await measure()
        const crowd = await startCrowd({ ...progress, clients: FOLLOWERS, admitted })
        const during = await measure()
        await crowd.stop()
        await wait(LEAVE_MS)
        rounds.push({ before, during })
        log(`${name}, round ${n}: p99 of a read ${ms(before.readP99Ms)}, then ${ms(during.readP99Ms)}`)
      }
      found.push({ name, rounds })
    } finally {
      await own.run()
    }
  }
  return `${await describeRun(new Date())}

${FOLLOWERS} clients of one user follow one running execution; a neighbor reads with ${READERS} clients and revokes ${REVOCATIONS} keys a round.

${table(
  ['console', 'read p99 before', 'during', 'ratio', 'slowest revocation before', 'during'],
  found.map(({ name, rounds }) => [
    name,
    ms(median(rounds.map(({ before }) => before.readP99Ms))),
    ms(median(rounds.map(({ during }) => during.readP99Ms))),
    times(ratioOf(rounds)),
    ms(slowest(rounds.map(({ before }) => before))),
    ms(slowest(rounds.map(({ during }) => during))),
  ]),
)}

${formatTargets(
  found.flatMap(({ name, rounds }) => [
    {
      what: `p99 of a neighbor's reads to that before, ${name}`,
      wanted: WANTED_RATIO,
      found: ratioOf(rounds),
      better: 'less' as const,
      say: times,
    },
    {
      what: `slowest revocation of a key, ${name}`,
      wanted: WANTED_REVOCATION_MS,
      found: slowest(rounds.map(({ during }) => during)),
      better: 'less' as const,
      say: ms,
    },
  ]),
)}
`
}

const ratioOf = (rounds: Round[]) => median(rounds.map(({ before, during }) => during.readP99Ms / before.readP99Ms))
const slowest = (measured: Measured[]) => Math.max(...measured.map(({ slowestRevocationMs }) => slowestRevocationMs))

type Progress = Pick<CrowdSettings, 'url' | 'token'>

/** Starts an execution whose model never answers. Returns where a user follows it. */
async function startHeldExecution(stack: ServiceStack, fixture: Fixture): Promise<Progress> {
  const { project, key, model, owner } = await fixture.callableTenant({ funds: PLENTY })
  const { id: sandbox } = await fixture.sandbox(project, flowOf(model))
  const { secret: token } = await fixture.token(owner)
  await stack.provider.control.setFaults([{ hold: true }])
  fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.secret}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': `followers-${sandbox}`,
    },
    body: '{"input":{"text":"Rivers"}}',
  }).catch(() => {}) // it ends with the gateway
  for (;;) {
    const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [sandbox])
    const [execution] = rows as { id: string }[]
    if (execution) {
      const path = `/api/v2/tenants/${project.tenant}/projects/${project.id}/executions/${execution.id}/progress`
      return { url: stack.console!.url + path, token }
    }
    await wait(20)
  }
}

/** Returns what measures a user of another organization. */
async function openNeighbor(stack: ServiceStack, fixture: Fixture, lastsMs: number): Promise<() => Promise<Measured>> {
  const { project, owner } = await fixture.callableTenant({ funds: PLENTY })
  const { secret } = await fixture.token(owner)
  const tenant = `${stack.console!.url}/api/v2/tenants/${project.tenant}`
  const now = () => performance.now()

  async function ask(url: string, method = 'GET'): Promise<void> {
    const answer = await fetch(url, { method, headers: { authorization: `Bearer ${secret}` } })
    if (answer.status !== 200) throw new Error(`The neighbor got ${answer.status} ${await answer.text()}.`)
    await answer.arrayBuffer()
  }

  return async () => {
    const reads = await closedLoop({ clients: READERS, lastsMs, now, call: () => ask(`${tenant}/keys`) })
    const tookMs: number[] = []
    for (let n = 0; n < REVOCATIONS; n++) {
      const { id } = await fixture.key({ project, by: owner })
      const startMs = now()
      await ask(`${tenant}/keys/${id}/revoke`, 'POST')
      tookMs.push(now() - startMs)
    }
    return { readP99Ms: percentile(reads.latenciesMs, 99), slowestRevocationMs: Math.max(...tookMs) }
  }
}
