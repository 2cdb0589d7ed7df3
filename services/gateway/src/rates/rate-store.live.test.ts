import { openRedis } from '@gateway/service-kit/redis/open-redis'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import fc from 'fast-check'
import { expect, inject } from 'vitest'
import { openRateStore, type RateStore } from './rate-store.ts'
import { giveBack, nothingHeld, take, type Demand, type Return, type Taking } from './rate-windows.ts'

const test = liveTest.extend('open', async ({ redis }, { onCleanup }) => {
  const stores: RateStore[] = []
  onCleanup(() => Promise.all(stores.map((store) => store.close())).then(() => {}))
  return async (more: Partial<Parameters<typeof openRateStore>[0]> = {}) => {
    const troubles: unknown[] = []
    const onTrouble = (error: unknown) => troubles.push(error)
    const store = await openRateStore({ redisUrl: redis.url, onTrouble, patienceMs: 60_000, ...more })
    stores.push(store)
    return { store, troubles }
  }
})

const HOUR_MS = 3_600_000
const NO_REDIS = 'redis://127.0.0.1:1'
let groups = 0
const demand = (more: Partial<Demand>): Demand => ({ group: `prj_${groups}`, meters: [], pools: [], id: 'c', ...more })

test('admits exactly the limit over several gateways, however many ask at once', async ({ open }) => {
  groups++
  const stores = await Promise.all([open(), open(), open()])
  const meters = [{ name: 'r', max: 50, windowMs: HOUR_MS, cost: 1 }]
  const pools = [{ name: 'p', max: 1_000 }]
  const takings = await Promise.all(
    Array.from({ length: 500 }, (_, n) => stores[n % 3]!.store.take(demand({ meters, pools, id: `c${n}` }))),
  )
  expect(takings.filter(({ exceeded }) => exceeded === null)).toHaveLength(50)
  expect(stores.flatMap(({ troubles }) => troubles)).toEqual([])
})

test('decides in Redis as it would in one process', async ({ open }) => {
  const { store } = await open()
  const step = fc.record({
    give: fc.boolean(),
    costs: fc.tuple(fc.nat(5), fc.nat(40)),
    at: fc.nat(7),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      groups++
      const held = nothingHeld()
      const taken: { redis: Taking; own: Taking; asked: Demand }[] = []
      for (const [n, { give, costs, at }] of steps.entries()) {
        const back = taken[at]
        if (give && back) {
          const of = ({ windows }: Taking): Return => ({
            ...back.asked,
            meters: back.asked.meters.map(({ name, cost }, m) => ({ name, startMs: windows[m]!.startMs, cost })),
            pools: ['p'],
          })
          store.giveBack(of(back.redis))
          giveBack(held, of(back.own))
          continue
        }
        const asked = demand({
          meters: [
            { name: 'r', max: 12, windowMs: HOUR_MS, cost: costs[0] },
            { name: 't', max: 100, windowMs: HOUR_MS, cost: costs[1] },
          ],
          pools: [{ name: 'p', max: 4 }],
          id: `c${n}`,
        })
        const [redis, own] = [await store.take(asked), take(held, asked, 1_000)]
        expect([redis.exceeded, redis.windows.map(({ used }) => used)]).toEqual([
          own.exceeded,
          own.windows.map(({ used }) => used),
        ])
        if (redis.exceeded === null) taken.push({ redis, own, asked })
      }
    }),
    { numRuns: 100 * inject('propertyShare') },
  )
})

test('begins a new window when the last one has ended', async ({ open }) => {
  groups++
  const { store } = await open()
  const meters = [{ name: 'r', max: 1, windowMs: 30, cost: 1 }]
  for (let n = 0; n < 3; n++) {
    while ((await store.take(demand({ meters }))).exceeded !== null);
    const { exceeded, retryAfterMs } = await store.take(demand({ meters }))
    if (exceeded !== null) expect(retryAfterMs).toBeLessThanOrEqual(30)
  }
})

test('grants this gateway its share before it has ever reached Redis, and reports that once', async ({ open }) => {
  groups++
  const { store, troubles } = await open({ redisUrl: NO_REDIS, gateways: 3 })
  const meters = [{ name: 'r', max: 15, windowMs: HOUR_MS, cost: 1 }]
  const outcomes = []
  for (let n = 0; n < 8; n++) outcomes.push((await store.take(demand({ meters }))).exceeded)
  expect(outcomes).toEqual([null, null, null, null, null, 0, 0, 0])
  expect(troubles).toHaveLength(1)
})

test('opens while Redis accepts connections but stays silent, and asks it once it responds', async ({
  open,
  redis,
  onTestFinished,
}) => {
  groups++
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  proxy.fallSilent({ newConnections: 'silent' })
  const { store } = await open({ redisUrl: proxy.through(redis.url), gateways: 3, patienceMs: 50, silentMs: 100 })
  const meters = [{ name: 'r', max: 15, windowMs: HOUR_MS, cost: 1 }]
  expect((await store.take(demand({ meters }))).shares).toBe(3)
  proxy.heal()
  await expect.poll(async () => (await store.take(demand({ meters }))).shares, { timeout: 10_000 }).toBe(1)
})

/** Whether one of the places is free. Leaves it free. */
async function hasPlace(store: RateStore, max: number): Promise<boolean> {
  const { exceeded } = await store.take(oneOf('x', max))
  if (exceeded === null) store.giveBack({ ...demand({ id: 'x' }), meters: [], pools: ['p'] })
  return exceeded === null
}
const oneOf = (id: string, max: number) => demand({ pools: [{ name: 'p', max }], id })

test('frees the places of a gateway that was killed', async ({ open }) => {
  groups++
  const [killed, other] = await Promise.all([open({ renewMs: 20 }), open({ renewMs: 20 })])
  expect((await killed.store.take(oneOf('a', 1))).exceeded).toBe(null)
  await killed.store.close() // gives nothing back
  await expect.poll(() => hasPlace(other.store, 1)).toBe(true)
})

test('counts the places of running calls through an outage of Redis', async ({ open, redisServer }) => {
  groups++
  const options = { redisUrl: redisServer.url, renewMs: 20 }
  const { store } = await open(options)
  expect((await store.take(oneOf('a', 2))).exceeded).toBe(null)
  await redisServer.stopImmediately()
  expect((await store.take(oneOf('b', 2))).exceeded).toBe(null)
  expect(await hasPlace(store, 2)).toBe(false)

  await redisServer.restart()
  const other = (await open(options)).store
  await expect.poll(() => hasPlace(other, 2)).toBe(false)
  store.giveBack({ ...demand({ id: 'a' }), meters: [], pools: ['p'] })
  await expect.poll(() => hasPlace(other, 2)).toBe(true)
})

test('returns what Redis takes for a call that no longer waits for it', async ({
  open,
  redisServer,
  onTestFinished,
}) => {
  groups++
  const { url: redisUrl } = redisServer
  const other = (await open({ redisUrl })).store
  const { store } = await open({ redisUrl, gateways: 2, patienceMs: 50 })
  const redis = openRedis(redisUrl, { connectTimeout: 1_000 })
  onTestFinished(() => redis.disconnect())
  await redis.call('CLIENT', 'PAUSE', '500', 'ALL')
  const meters = [{ name: 'r', max: 10, windowMs: HOUR_MS, cost: 1 }]
  const takings = await Promise.all(['a', 'b'].map((id) => store.take({ ...oneOf(id, 2), meters })))
  expect(takings.map(({ exceeded, shares }) => [exceeded, shares])).toEqual([
    [null, 2],
    [1, 2],
  ])
  store.giveBack({ ...demand({ id: 'a' }), meters: [], pools: ['p'] })
  await expect.poll(() => hasPlace(other, 1)).toBe(true)
  expect((await other.take(demand({ meters }))).windows[0]!.used).toBe(1)
})
