import { mastersOf, openRedis } from '@gateway/service-kit/redis/open-redis'

/** Redis can't be used for a queue now. The message names no address, so it may be shown by a readiness check. */
export class RedisUnfit extends Error {}

const LIMIT_MS = 800

/**
 * For readiness: resolves where Redis answers and never evicts. One that evicts drops keys of the queue under memory
 * pressure, which leaves it broken without a report.
 * @throws RedisUnfit
 */
export async function assertNoEviction(redisUrl: string): Promise<void> {
  for (const info of await memoryInfos(redisUrl)) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
    if (policy === undefined) throw new RedisUnfit('does not tell its maxmemory-policy')
    if (policy !== 'noeviction') throw new RedisUnfit(`evicts keys (${policy}); set maxmemory-policy to noeviction`)
  }
}

/**
 * Of every server that holds data. INFO and not CONFIG, which managed servers often forbid. On a connection of its own, so
 * that nothing queues up behind it.
 */
async function memoryInfos(redisUrl: string): Promise<string[]> {
  const redis = openRedis(redisUrl, {
    lazyConnect: true,
    connectTimeout: LIMIT_MS,
    commandTimeout: LIMIT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await Promise.all(mastersOf(redis).map((master) => master.info('memory')))
  } catch {
    throw new RedisUnfit('does not answer')
  } finally {
    redis.disconnect()
  }
}
