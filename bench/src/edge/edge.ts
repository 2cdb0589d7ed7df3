import { startServices } from '@gateway/testbed/service-stack'
import { openFixture } from '@gateway/testbed/fixture'
import { Pool } from 'undici'
import type { BenchDeps } from '../bench.ts'
import { describeRun } from '../report/machine.ts'
import { formatTargets, type Target } from '../report/targets.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { gatewaysThatCollect } from './kept-memory.ts'
import { PLENTY } from '../stack/with-fixture.ts'

// What strangers and greedy projects cost everyone else, and how exactly rate limits hold over several gateways.

const GATEWAYS = 3

export type Edge = Awaited<ReturnType<typeof openEdge>>

/** Runs one measurement on a stack with three gateways. */
export function onEdge(measure: (open: Edge, deps: BenchDeps) => Promise<{ said: string; targets: Target[] }>) {
  return async (deps: BenchDeps): Promise<string> => {
    const { said, targets } = await measure(await openEdge(deps.stops, deps.log), deps)
    return `${await describeRun(new Date())}\n\n${said.trim()}\n\n${formatTargets(targets)}\n`
  }
}

async function openEdge(stops: BenchDeps['stops'], log: BenchDeps['log']) {
  log(`Starting Postgres, Redis, provider, ledger and ${GATEWAYS} gateways`)
  const { postgres, redis } = await startBenchServers(stops)
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    redisUrl: redis.url,
    gateways: GATEWAYS,
    environment: {
      gateway: () => ({ LOG_LEVEL: 'error', ...gatewaysThatCollect }),
      ledger: () => ({ LOG_LEVEL: 'error' }),
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
  return { stack, fixture, tenant, model, chat, pools }
}
