import type { CallableTenant, Fixture } from '@gateway/testbed/fixture'
import { startServices } from '@gateway/testbed/service-stack'
import { Pool } from 'undici'
import type { BenchDeps } from '../bench.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, percentile, type Figures } from '../load/figures.ts'
import { PLENTY, withFixture } from '../stack/with-fixture.ts'
import { describeRun } from '../report/machine.ts'
import { checkLoad } from './check-load.ts'
import { openLoop, type OfferedLoad, type Ended } from './open-loop.ts'
import { reportSoak, type Round } from './report-soak.ts'
import { residentMiB } from './resident-memory.ts'

// Ten times more calls than the stack can sustain, for the duration of all rounds. Admitted callers must not notice;
// refused ones must receive a Retry-After and are never charged, and the gateway's memory must not grow.

/** Concurrent calls of the gateway: low enough that ten times its load can be generated on the same cores. */
const MAX_CONCURRENT_CALLS = 48
/** Latency of the model. */
const LATENCY_MS = 250
const PROJECTS = 4
const TIMES_TOO_MUCH = 10
/** Clients under low load. */
const FEW = 4
const CONNECTIONS = 512
const PROMPT = 'Tell me something of rivers and of the cities alongside them. '.repeat(20)

const now = () => performance.now()

export async function soak({ options: { rounds, roundMs }, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres, Redis, provider, ledger and gateway')
  const { postgres, redis } = await startBenchServers(stops)
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    redisUrl: redis.url,
    environment: { gateway: () => ({ MAX_CONCURRENT_CALLS: String(MAX_CONCURRENT_CALLS), LOG_LEVEL: 'warn' }) },
  })
  stops.add(stack.stop)
  await stack.provider.control.setFaults([{ latencyMs: LATENCY_MS }])
  const tenants = await withFixture(postgres.adminUrl, tenantsOfOneModel)
  const gateway = stack.gateways[0]!
  const pool = new Pool(gateway.url, { connections: CONNECTIONS, pipelining: 1 })
  stops.add(() => pool.destroy())
  let answered = 0

  async function call(n: number): Promise<Ended> {
    const { key, model } = tenants[n % PROJECTS]!
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          messages: [{ role: 'user', content: `${n} ${PROMPT}` }],
          max_tokens: 50,
        }),
      })
      await body.dump()
      if (statusCode === 200) answered++
      return { status: statusCode, retryAfter: headers['retry-after'] !== undefined }
    } catch {
      return { status: 0, retryAfter: false }
    }
  }

  /** Every call is admitted here. */
  async function calm(clients: number): Promise<Figures> {
    const admitted = async (n: number) => {
      const { status } = await call(n)
      if (status !== 200) throw new Error(`A call was answered with ${status} before the overload began.`)
    }
    return figuresOf(await closedLoop({ clients, lastsMs: roundMs, call: admitted, now }))
  }

  log('Warming up')
  for (let n = 0; n < PROJECTS; n++) await call(n)
  await calm(FEW)
  const unloaded = await calm(FEW)
  const full = await calm(Math.floor(MAX_CONCURRENT_CALLS * 0.75))
  const capacity = (full.perSecond * MAX_CONCURRENT_CALLS) / Math.floor(MAX_CONCURRENT_CALLS * 0.75)
  log(`alone p99 ${unloaded.p99Ms.toFixed(0)} ms; full ${capacity.toFixed(0)}/s; now ${TIMES_TOO_MUCH} times that`)

  const overloaded: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const load = await openLoop({ perSecond: capacity * TIMES_TOO_MUCH, lastsMs: roundMs, call, now })
    overloaded.push({ ...figuresOfLoad(load, roundMs), residentMiB: await residentMiB(gateway.pid) })
    const { admitted, refused, p99Ms, residentMiB: resident } = overloaded.at(-1)!
    log(
      `round ${round} of ${rounds}  ${admitted.toFixed(0)}/s admitted, p99 ${p99Ms.toFixed(0)} ms; ${refused.toFixed(0)}/s refused; ${resident.toFixed(0)} MiB`,
    )
  }

  log('Checking the books')
  await checkLoad({ ledgerUrl: postgres.ledgerUrl, answered })
  return reportSoak({
    unloaded,
    capacity,
    overloaded,
    setting: { places: MAX_CONCURRENT_CALLS, latencyMs: LATENCY_MS, projects: PROJECTS, timesTooMuch: TIMES_TOO_MUCH },
    run: await describeRun(new Date()),
  })
}

/** Funded projects that call the same model, at one micro-USD per token. */
async function tenantsOfOneModel(fixture: Fixture): Promise<CallableTenant[]> {
  const model = await fixture.publishProduct({ id: 'bench/soak', promptPico: 1_000_000n, completionPico: 1_000_000n })
  const tenants: CallableTenant[] = []
  while (tenants.length < PROJECTS) tenants.push(await fixture.callableTenant({ funds: PLENTY, model }))
  return tenants
}

function figuresOfLoad(
  { offered, ended, untold, latenciesMs, tookMs }: OfferedLoad,
  lastsMs: number,
): Omit<Round, 'residentMiB'> {
  const count = (status: number) => ended.get(status) ?? 0
  if (untold > 0) throw new Error(`${untold} calls were refused without Retry-After.`)
  const others = [...ended].filter(([status]) => status !== 200 && status !== 503)
  if (others.length > 0) throw new Error(`Calls ended otherwise: ${JSON.stringify(others)}`)
  const perSecond = (calls: number) => (calls * 1000) / tookMs
  return {
    offered: (offered * 1000) / lastsMs,
    admitted: perSecond(count(200)),
    refused: perSecond(count(503)),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
  }
}
