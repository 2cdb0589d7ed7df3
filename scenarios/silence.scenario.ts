import { describe, expect } from 'vitest'
import { startFaultProxy, type FaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { openServices } from '@gateway/testbed/service-stack'
import { paidFlow } from './src/paid-flows.ts'
import { connectStack, type Stack, type TenantFixture } from './src/stack.ts'
import { startSteadyLoad, succeeded, type SteadyLoad } from './src/steady-load.ts'

// A service falls silent instead of dying: its host vanishes, or a middlebox drops the state of its connections. No reset arrives, and
// both ends could wait for hours. Recovery is automatic, within the times that operators rely on.

const CHATS = 16
const FLOWS = 4
/** Calls recover within this time, counted from the silence if new connections pass, or else from its end. */
const BACK_MS = 10_000
const NOT_READY_MS = 15_000
/** Duration of the silence of new connections. Shorter than the 15 s after which a gateway counts as dead. */
const ALL_SILENT_MS = 12_000
/** Upper limit for any wait. */
const PATIENCE_MS = 30_000

type Link = 'ledger and Postgres' | 'gateway and ledger' | 'worker and Redis'
const LINKS: Link[] = ['ledger and Postgres', 'gateway and ledger', 'worker and Redis']

const test = liveTest
  .extend('links', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
    const opened: FaultProxy[] = []
    const open = async (url: string) => {
      const { hostname, port } = new URL(url)
      const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
      opened.push(proxy)
      return proxy
    }
    onCleanup(async () => {
      for (const proxy of opened) await proxy.close()
    })
    return { 'ledger and Postgres': await open(database.ledgerUrl), 'worker and Redis': await open(redis.url), open }
  })
  .extend('stack', { scope: 'file' }, async ({ database, redis, links }, { onCleanup }) => {
    const proxies: Partial<Record<Link, FaultProxy>> = { ...links }
    const services = await openServices({
      ledgerUrl: links['ledger and Postgres'].through(database.ledgerUrl),
      redisUrl: redis.url,
      workers: 1,
      through: async (url) => {
        const proxy = await links.open(url)
        proxies['gateway and ledger'] = proxy
        return proxy.through(url)
      },
      environment: { worker: () => ({ REDIS_URL: links['worker and Redis'].through(redis.url) }) },
    })
    const stack = await connectStack(services, database)
    await stack.provider.control.setFaults([{ latencyMs: 30 }])
    onCleanup(async () => {
      await stack.close()
      await services.stop()
    })
    return { ...stack, proxies: proxies as Record<Link, FaultProxy> }
  })
  .extend('load', async ({ stack }, { onCleanup }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, 2))
    const load = startSteadyLoad(stack, tenant, { sandbox, chats: CHATS, flows: FLOWS, patienceMs: PATIENCE_MS })
    onCleanup(load.stop)
    await Promise.all([load.success('chat', 0), load.success('flow', 0)])
    return { ...load, tenant }
  })

describe('open connections fall silent while new ones pass', () => {
  test.for(LINKS)('between %s, calls recover within 10 s and nothing is lost', async (link, { stack, load }) => {
    const waiting = watchWaiting(stack)
    const fromMs = performance.now()
    stack.proxies[link].fallSilent()
    await expectBack(stack, load, fromMs)
    await load.stop()
    await expectOrder(stack, load, await waiting.stop(), CHATS + FLOWS)
  })
})

describe('open and new connections fall silent', () => {
  test.for(LINKS)(
    'between %s, the service becomes unready and recovers within 10 s after the silence ends',
    async (link, { stack, load }) => {
      const waiting = watchWaiting(stack)
      const fromMs = performance.now()
      stack.proxies[link].fallSilent({ newConnections: 'silent' })
      const [program] = {
        'ledger and Postgres': stack.ledgers,
        'gateway and ledger': stack.gateways,
        'worker and Redis': stack.workers,
      }[link]
      while ((await statusOf(`${program!.url}/health/ready`)) === 200) await pause()
      expect(performance.now() - fromMs).toBeLessThan(NOT_READY_MS)
      while (performance.now() - fromMs < ALL_SILENT_MS) await pause()
      expect(await statusOf(`${program!.url}/health/live`)).toBe(200)

      const healedMs = performance.now()
      stack.proxies[link].heal()
      await expectBack(stack, load, healedMs)
      await load.stop()
      // A timed-out call that may have been admitted leaves a release: up to three per caller in this time.
      await expectOrder(stack, load, await waiting.stop(), 3 * (CHATS + FLOWS))
    },
  )
})

const pause = () => new Promise((resolve) => setTimeout(resolve, 100))

async function statusOf(url: string): Promise<number | null> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
  await answer?.body?.cancel()
  return answer?.status ?? null
}

/** Asserts that calls of both kinds started after `fromMs` succeed in time, and that every service is ready. */
async function expectBack({ ledgers, gateways, workers }: Stack, load: SteadyLoad, fromMs: number): Promise<void> {
  const back = await Promise.all([load.success('chat', fromMs), load.success('flow', fromMs)])
  const tookMs = back.map(({ kind, endedMs }) => ({ kind, ms: Math.round(endedMs - fromMs) }))
  for (const { url } of [...ledgers, ...gateways, ...workers])
    while ((await statusOf(`${url}/health/ready`)) !== 200) await pause()
  const all = [...tookMs, { kind: 'ready', ms: Math.round(performance.now() - fromMs) }]
  console.log(`recovered after ${all.map(({ kind, ms }) => `${ms} ms (${kind})`).join(', ')}`)
  expect(all.filter(({ ms }) => ms >= BACK_MS)).toEqual([])
}

/** Polls the number of items waiting in the ledger; `stop` returns the maximum. */
function watchWaiting({ ledgers }: Stack) {
  const counts: number[] = []
  let going = true
  const watched = (async () => {
    while (going) {
      const answer = await fetch(`${ledgers[0]!.metricsUrl}/metrics`, { signal: AbortSignal.timeout(20_000) }).catch(
        () => null,
      )
      const text = (await answer?.text().catch(() => '')) ?? ''
      for (const [, count] of text.matchAll(/^ledger_(?:node_)?items_waiting(?:\{[^}]*\})? (\d+)/gm))
        counts.push(Number(count))
      await pause()
    }
  })()
  return {
    async stop() {
      going = false
      await watched
      return Math.max(...counts)
    },
  }
}

/** Asserts that every call ended, that the queue stayed within the number of callers, and that the books have every response. */
async function expectOrder(
  stack: Stack,
  { seen, tenant }: SteadyLoad & { tenant: TenantFixture },
  waited: number,
  callers: number,
): Promise<void> {
  expect(seen.filter(({ status }) => status === null)).toEqual([])
  console.log(`at most ${waited} items waited`)
  expect(waited).toBeLessThanOrEqual(2 * callers)
  const project = tenant.project.id
  await stack.untilNothingIsReserved(project, 30_000)
  expect(await stack.findings([project])).toEqual([])
  const { rows } = await stack.fixture.run(
    `SELECT k.key FROM money.idempotency_keys k JOIN money.attempts a ON a.id = k.reservation
      WHERE k.project = $1 AND a.state = 'Settled'`,
    [project],
  )
  const settled = new Set((rows as { key: string }[]).map(({ key }) => key))
  const chats = seen.filter((call) => call.kind === 'chat' && succeeded(call))
  expect(chats.length).toBeGreaterThan(0)
  expect(chats.filter(({ key }) => !settled.has(key))).toEqual([])
}
