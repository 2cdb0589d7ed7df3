import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { assertNoEviction, RedisUnfit } from './node-queue.ts'

liveTest(
  'refuses a Redis that may evict keys or does not respond, without naming its address',
  async ({ redisServer }) => {
    await assertNoEviction(redisServer.url)
    const redis = new Redis(redisServer.url)
    onTestFinished(() => redis.disconnect())
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
    await expect(assertNoEviction(redisServer.url)).rejects.toEqual(
      new RedisUnfit('evicts keys (allkeys-lru); set maxmemory-policy to noeviction'),
    )
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
    await assertNoEviction(redisServer.url)
    redis.disconnect()
    await redisServer.stopImmediately()
    await expect(assertNoEviction(redisServer.url)).rejects.toEqual(new RedisUnfit('does not answer'))
  },
)
