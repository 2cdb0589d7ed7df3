import { randomUUID } from 'node:crypto'
import { settlesWithin, withTimeout } from '@gateway/service-kit/async/waiting'
import { openRedis } from '@gateway/service-kit/redis/open-redis'
import { LRUCache } from 'lru-cache'
import {
  type Demand,
  giveBack,
  type Held,
  hold,
  holders,
  nothingHeld,
  type Return,
  take,
  type Taking,
} from './rate-windows.ts'

// Where rate limits are counted.
//   S1  In Redis, for all gateways, in one script that decides as rate-windows.ts does. The keys of a project are on one
//       node of a Cluster.
//   S2  Without Redis, each gateway counts by itself and grants its share: the limit divided by the gateways that were
//       last seen. What was counted is lost with Redis, so a window may start again.
//   S3  Neither a call nor the start of a gateway waits for Redis longer than PATIENCE_MS, and after a failure no call waits
//       for a moment. If Redis still takes what was asked, that is given back, except for the places of a call that got its
//       share.
//   S4  A place in Redis is a lease of three RENEW_MS, so that the places of a killed gateway end. A gateway renews those of
//       its running calls. If Redis does not have one, because it lost it, its lease ended or it was taken without Redis, the
//       renewal takes it, even beyond the limit: its call runs.

export interface RateStore {
  take(demand: Demand): Promise<Taking>
  giveBack(taken: Return): void
  close(): Promise<void>
}

interface Options {
  redisUrl: string
  onTrouble: (error: unknown) => void
  /** How many gateways there are, until Redis has told. */
  gateways?: number
  /** Interval of renewals (S4). */
  renewMs?: number
  /** Maximum wait for Redis. */
  patienceMs?: number
  /** A connection on which Redis does not respond for this long is replaced; what Redis takes later is not given back. */
  silentMs?: number
  now?: () => number
}

const PATIENCE_MS = 1_000
const SILENT_MS = 10_000
const WITHOUT_REDIS_MS = 1_000
const SIGN_OF_LIFE_MS = 5_000
const RENEW_MS = 20_000
const GATEWAYS = 'rates:gateways'
const PROJECTS_COUNTED = 10_000

const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local meters = tonumber(ARGV[1])
local exceeded, wait = -1, 0
local answer = {}
local starts, useds = {}, {}
for n = 1, meters do
  local max, window, cost = tonumber(ARGV[3 * n + 1]), tonumber(ARGV[3 * n + 2]), tonumber(ARGV[3 * n + 3])
  local kept = redis.call('HMGET', KEYS[n], 'start', 'used')
  local start, used = tonumber(kept[1] or now), tonumber(kept[2] or 0)
  if now - start >= window then start, used = now, 0 end
  if exceeded < 0 and used + cost > max then exceeded, wait = n - 1, start + window - now end
  starts[n], useds[n] = start, used
end
for n = meters + 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[n], '-inf', now)
  if exceeded < 0 and redis.call('ZCARD', KEYS[n]) >= tonumber(ARGV[3 * meters + 3 + n - meters]) then
    exceeded, wait = n - 1, 1000
  end
end
for n = 1, meters do
  local window, cost = tonumber(ARGV[3 * n + 2]), tonumber(ARGV[3 * n + 3])
  if exceeded < 0 then
    useds[n] = useds[n] + cost
    redis.call('HSET', KEYS[n], 'start', starts[n], 'used', useds[n])
    redis.call('PEXPIRE', KEYS[n], starts[n] + window - now + 1000)
  end
  answer[3 * n] = starts[n]
  answer[3 * n + 1] = useds[n]
  answer[3 * n + 2] = starts[n] + window - now
end
if exceeded < 0 then
  for n = meters + 1, #KEYS do
    redis.call('ZADD', KEYS[n], now + tonumber(ARGV[3]), ARGV[2])
    redis.call('PEXPIRE', KEYS[n], tonumber(ARGV[3]))
  end
end
answer[1], answer[2] = exceeded, wait
return answer`

const GIVE_BACK = `
local meters = tonumber(ARGV[1])
for n = 1, meters do
  if redis.call('HGET', KEYS[n], 'start') == ARGV[2 * n + 1] then
    redis.call('HINCRBY', KEYS[n], 'used', string.format('%d', -ARGV[2 * n + 2])) -- not '-0'
  end
end
for n = meters + 1, #KEYS do redis.call('ZREM', KEYS[n], ARGV[2]) end`

const RENEW = `
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
for n = 2, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[n]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])`

/** Opens the store once Redis has answered, or without it (S3). */
export async function openRateStore({
  redisUrl,
  onTrouble,
  gateways: gatewaysAtFirst = 1,
  renewMs = RENEW_MS,
  patienceMs = PATIENCE_MS,
  silentMs = SILENT_MS,
  now = Date.now,
}: Options): Promise<RateStore> {
  const redis = openRedis(redisUrl, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: silentMs,
    socketTimeout: silentMs,
    retryStrategy: (tries) => Math.min(50 * 2 ** tries, 2_000),
  })
  const connected = Promise.withResolvers<void>()
  redis.on('error', () => connected.resolve()) // each command fails by itself
  redis.once('ready', connected.resolve)
  const own = new LRUCache<string, Held>({ max: PROJECTS_COUNTED }) // by project: the windows of S2, and the places of all its calls here
  const leaseMs = 3 * renewMs
  const member = randomUUID()
  let gateways = gatewaysAtFirst
  let withoutRedisUntilMs = 0
  const life = setInterval(() => void showLife().catch(() => {}), SIGN_OF_LIFE_MS).unref()
  const renewal = setInterval(renewAll, renewMs).unref()
  redis.once('ready', () => void showLife().catch(() => {}))

  async function showLife(): Promise<void> {
    await redis.zadd(GATEWAYS, now(), member)
    await redis.zremrangebyscore(GATEWAYS, '-inf', now() - 3 * SIGN_OF_LIFE_MS)
    gateways = Math.max(1, await redis.zcard(GATEWAYS))
  }

  /** S4. Calls shorter than the interval are not renewed. */
  function renewAll(): void {
    for (const [group, held] of Array.from(own))
      for (const [pool, ids] of holders(held, now(), renewMs)) {
        own.set(group, held) // the least recently used are forgotten
        redis.eval(RENEW, 1, keyOf(group)(pool), leaseMs, ...ids).catch(() => {})
      }
  }

  const keyOf = (group: string) => (name: string) => `rates:{${group}}:${name}`

  function heldBy(group: string): Held {
    const held = own.get(group) ?? nothingHeld()
    own.set(group, held)
    return held
  }

  /** S2 */
  function takeShare(demand: Demand): Taking {
    return take(heldBy(demand.group), demand, now(), gateways)
  }

  async function takeOfAll({ group, meters, pools, id }: Demand): Promise<Taking> {
    const keys = [...meters, ...pools].map(({ name }) => name).map(keyOf(group))
    const limits = meters.flatMap(({ max, windowMs, cost }) => [max, windowMs, cost])
    const answer = (await redis.eval(
      TAKE,
      keys.length,
      ...keys,
      meters.length,
      id,
      leaseMs,
      ...limits,
      ...pools.map(({ max }) => max),
    )) as number[]
    const [exceeded, retryAfterMs] = answer as [number, number]
    const windows = meters.map((_, n) => {
      const [startMs, used, endsInMs] = answer.slice(3 * n + 2, 3 * n + 5) as [number, number, number]
      return { startMs, used, endsInMs }
    })
    return { exceeded: exceeded < 0 ? null : exceeded, retryAfterMs, windows, shares: 1 }
  }

  function returnToAll({ group, meters, pools, id }: Return): void {
    const keys = [...meters.map(({ name }) => name), ...pools].map(keyOf(group))
    const costs = meters.flatMap(({ startMs, cost }) => [startMs, cost])
    redis.eval(GIVE_BACK, keys.length, ...keys, meters.length, id, ...costs).catch(() => {})
  }

  /** S3 */
  function returnLate({ group, meters, pools, id }: Demand, { exceeded, windows }: Taking, share: Taking): void {
    if (exceeded !== null) return
    returnToAll({
      group,
      meters: meters.map(({ name, cost }, n) => ({ name, startMs: windows[n]!.startMs, cost })),
      pools: share.exceeded === null ? [] : pools.map(({ name }) => name),
      id,
    })
  }

  await settlesWithin(patienceMs, connected.promise)
  return {
    async take(demand) {
      if (now() < withoutRedisUntilMs) return takeShare(demand)
      const answer = takeOfAll(demand)
      try {
        const taking = await withTimeout(patienceMs, () => answer)
        if (taking.exceeded === null && demand.pools.length > 0) hold(heldBy(demand.group), demand, now())
        return taking
      } catch (error) {
        if (now() >= withoutRedisUntilMs) onTrouble(error)
        withoutRedisUntilMs = now() + WITHOUT_REDIS_MS // S3
        const share = takeShare(demand)
        void answer.then((late) => returnLate(demand, late, share)).catch(() => {})
        return share
      }
    },
    giveBack(taken) {
      giveBack(heldBy(taken.group), taken)
      returnToAll(taken)
    },
    async close() {
      clearInterval(life)
      clearInterval(renewal)
      await settlesWithin(patienceMs, redis.zrem(GATEWAYS, member))
      redis.disconnect()
    },
  }
}
