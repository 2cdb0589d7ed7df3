import { setTimeout as wait } from 'node:timers/promises'
import { startServices } from '@gateway/testbed/service-stack'
import { Agent, Pool } from 'undici'
import type { BenchDeps } from '../bench.ts'
import { gatewaysThatCollect, keptMiB } from '../edge/kept-memory.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, percentile, type Figures } from '../load/figures.ts'
import { openLoop } from '../load/open-loop.ts'
import { describeRun } from '../report/machine.ts'
import { ms } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { PLENTY, withFixture } from '../stack/with-fixture.ts'

// Nearly 10,000 slow streams on one gateway with its default settings: the memory of each, whether all of them flow, and
// what a neighbour and the event loop notice.

/** As many as fit a limit of 20,000 descriptors: each stream has two connections. */
const STREAMS = 9_800
/** A chunk of each stream every five seconds, for longer than the measurement. */
const SLOW = { prompt: 'a slow stream', text: 'word '.repeat(60).trim(), perChunkMs: 5_000 }
const BEGUN_PER_SECOND = 200
const WARM_STREAMS = 300
const WINDOW_MS = 15_000
const NEIGHBOURS = 2
const WANTED = { kib: 30, loopMs: 50 }

export async function openStreams({ options: { roundMs }, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres, Redis, provider, ledger and gateway')
  const { postgres, redis } = await startBenchServers(stops)
  const stack = await startServices({
    ledgerUrl: postgres.ledgerUrl,
    redisUrl: redis.url,
    environment: { gateway: () => ({ LOG_LEVEL: 'warn', ...gatewaysThatCollect }) },
  })
  stops.add(stack.stop)
  const gateway = stack.gateways[0]!
  const { control } = stack.provider
  const [crowd, neighbour] = await withFixture(postgres.adminUrl, async (fixture) => {
    const model = await fixture.publishProduct({ id: 'bench/open', promptPico: 1_000_000n, completionPico: 1_000_000n })
    const tenant = () => fixture.callableTenant({ funds: PLENTY, model })
    return [await tenant(), await tenant()] as const
  })
  const agent = new Agent({ connections: STREAMS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  stops.add(() => agent.destroy())
  const quick = new Pool(gateway.url, { connections: NEIGHBOURS + 1 })
  stops.add(() => quick.destroy())

  async function call({ key, model }: typeof crowd, content: string, stream: boolean, dispatcher: Agent | Pool) {
    const answer = await dispatcher.request({
      origin: gateway.url,
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }], max_tokens: 200 }),
    })
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${await answer.body.text()}`)
    return answer.body
  }
  const neighbours = async (): Promise<Figures> =>
    figuresOf(
      await closedLoop({
        clients: NEIGHBOURS,
        lastsMs: roundMs,
        call: async () => (await call(neighbour, 'a quick call', false, quick)).dump(),
        now: () => performance.now(),
      }),
    )
  /** A request that does nothing: it waits for the event loop alone. */
  const eventLoopP99Ms = async (): Promise<number> => {
    const waits = await openLoop({
      rate: 100,
      lastsMs: roundMs,
      async call(dueMs) {
        await (await quick.request({ method: 'GET', path: '/health/live' })).body.dump()
        return performance.now() - dueMs
      },
    })
    return percentile(Float64Array.from(waits).toSorted(), 99)
  }

  log(`Warming up with ${WARM_STREAMS} streams`)
  await openLoop({
    rate: BEGUN_PER_SECOND,
    lastsMs: (WARM_STREAMS * 1_000) / BEGUN_PER_SECOND,
    call: async () => (await call(crowd, 'a quick stream', true, agent)).dump(),
  })
  const quiet = await neighbours()
  const quietLoopMs = await eventLoopP99Ms()
  const before = await keptMiB(gateway.pid)

  await control.setFaults([SLOW])
  log(`Opening ${STREAMS} streams, ${BEGUN_PER_SECOND} a second`)
  let begun = 0
  let lost = 0
  let chunks = new Set<number>()
  const opening = openLoop({
    rate: BEGUN_PER_SECOND,
    lastsMs: (STREAMS * 1_000) / BEGUN_PER_SECOND,
    async call() {
      const body = await call(crowd, SLOW.prompt, true, agent)
      const n = begun++
      body.on('data', () => chunks.add(n))
      body.on('error', () => lost++)
    },
  })
  await opening
  log(`${begun} streams are open`)
  const after = await keptMiB(gateway.pid)
  chunks = new Set()
  await wait(WINDOW_MS)
  const flowing = chunks.size
  const during = await neighbours()
  const duringLoopMs = await eventLoopP99Ms()
  const eachKib = ((after - before) * 1_024) / STREAMS
  const kib = (value: number) => `${value.toFixed(1)} KiB`
  return `${await describeRun(new Date())}

One gateway with its default settings and ${STREAMS} streams, each with a chunk every ${SLOW.perChunkMs / 1_000} s. The provider, the callers and
all services share the machine.

- memory of the gateway, garbage collected: ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB with the streams
- ${flowing} of ${begun} streams had a chunk within ${WINDOW_MS / 1_000} s; ${lost} broke off
- a request that does nothing, p99: ${ms(quietLoopMs)} before, ${ms(duringLoopMs)} meanwhile
- calls of ${NEIGHBOURS} neighbours, p99: ${ms(quiet.p99Ms)} before, ${ms(during.p99Ms)} meanwhile (p50 ${ms(quiet.p50Ms)} and ${ms(during.p50Ms)})

${formatTargets([
  { what: 'memory of each stream', wanted: WANTED.kib, found: eachKib, better: 'less', say: kib },
  { what: 'p99 of the event loop', wanted: WANTED.loopMs, found: duringLoopMs, better: 'less', say: ms },
  { what: 'streams that flow', wanted: STREAMS, found: flowing, better: 'more', say: String },
])}
`
}
