import { startServices, type ServiceStackOptions } from '@gateway/testbed/service-stack'
import { openFixture } from '@gateway/testbed/fixture'
import { Pool } from 'undici'
import type { BenchDeps } from '../bench.ts'
import { percentile } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { formatTargets, type Target } from '../report/targets.ts'
import { openLoop } from '../soak/open-loop.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { gatewaysThatCollect } from './kept-memory.ts'
import { PLENTY } from '../stack/with-fixture.ts'

// What strangers and greedy projects cost everyone else, and how exactly rate limits hold over several gateways.

const GATEWAYS = 3
const CALLS_PER_SECOND = 50

export type Edge = Awaited<ReturnType<typeof openEdge>>

/** Additional services, and variables for them. */
type More = Pick<ServiceStackOptions, 'consoles' | 'workers' | 'environment'>

/** Runs one measurement on a stack with three gateways. */
export function onEdge(
  measure: (open: Edge, deps: BenchDeps) => Promise<{ said: string; targets: Target[] }>,
  more: (deps: BenchDeps) => Promise<More> = async () => ({}),
) {
  return async (deps: BenchDeps): Promise<string> => {
    const { said, targets } = await measure(await openEdge(deps, await more(deps)), deps)
    return `${await describeRun(new Date())}\n\n${said.trim()}\n\n${formatTargets(targets)}\n`
  }
}

async function openEdge({ stops, log }: BenchDeps, { consoles = 0, workers = 0, environment }: More) {
  log(`Starting Postgres, Redis, provider, ledger and ${GATEWAYS} gateways`)
  const { postgres, redis } = await startBenchServers(stops)
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    ...(consoles > 0 && { consoleUrl: postgres.consoleUrl }),
    redisUrl: redis.url,
    gateways: GATEWAYS,
    consoles,
    workers,
    environment: {
      gateway: () => ({ LOG_LEVEL: 'error', ...gatewaysThatCollect }),
      ledger: () => ({ LOG_LEVEL: 'error' }),
      ...environment,
    },
  })
  stops.add(stack.stop)
  const fixture = await openFixture(postgres.adminUrl)
  stops.add(fixture.close)
  const model = await fixture.publishProduct({ id: 'bench/edge', promptPico: 1_000_000n, completionPico: 1_000_000n })
  const tenant = await fixture.callableTenant({ funds: PLENTY, model })
  const pools = stack.gateways.map(({ url }) => new Pool(url, { connections: 64, pipelining: 1 }))
  for (const pool of pools) stops.add(() => pool.destroy())

  /** A chat call to the nth gateway. Returns its status. */
  async function chat(secret: string, gateway = 0, fields: object = {}): Promise<number> {
    const { statusCode, body } = await pools[gateway % GATEWAYS]!.request({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'Say something.' }],
        max_tokens: 5,
        ...fields,
      }),
    })
    await body.dump()
    return statusCode
  }

  /**
   * Calls the first gateway at a steady rate.
   *
   * @throws Error if a call is not answered with 200
   */
  async function measureCalls(lastsMs: number): Promise<{ p99: number; longest: number }> {
    const call = async () => ({ status: await chat(tenant.key.secret), retryAfter: true })
    const { latenciesMs, ended } = await openLoop({
      perSecond: CALLS_PER_SECOND,
      lastsMs,
      call,
      now: () => performance.now(),
    })
    const failed = [...ended.keys()].filter((status) => status !== 200)
    if (failed.length > 0) throw new Error(`The neighbour's calls were answered with ${failed.join()}.`)
    return { p99: percentile(latenciesMs, 99), longest: percentile(latenciesMs, 100) }
  }
  return { stack, fixture, tenant, model, chat, pools, measureCalls }
}
