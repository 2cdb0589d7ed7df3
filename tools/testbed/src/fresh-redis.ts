import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { inject } from 'vitest'

export interface FreshRedis {
  /**
   * Of a separate logical database, since the queue has the same name in each. Channels are shared: their ids keep them
   * apart.
   */
  url: string
  /** Prefix of every key and channel. In braces, so that a cluster keeps them on one node. */
  prefix: string
  /** Removes the keys. */
  drop: () => Promise<void>
}

const COUNTER = 'svc-test-databases'

/**
 * Opens a separate database on the Redis that all test files share. Tests that flush or kill it use `privateRedis`
 * instead.
 */
export async function freshRedis(): Promise<FreshRedis> {
  const { redisUrl } = inject('testServers')
  const url = await emptyDatabase(redisUrl)
  return {
    url,
    prefix: `{t${randomBytes(6).toString('hex')}}`,
    drop: () => ask(url, async (redis) => void (await redis.flushdb())),
  }
}

/** The next empty database: on a server that others use, their data is left alone. Database 0 has the counter. */
async function emptyDatabase(redisUrl: string): Promise<string> {
  const databases = await ask(redisUrl, async (redis) => {
    const [, count] = (await redis.config('GET', 'databases')) as [string, string]
    return Number(count)
  })
  for (let tried = 1; tried < databases; tried++) {
    const url = new URL(redisUrl)
    url.pathname = `/${await ask(redisUrl, async (redis) => 1 + ((await redis.incr(COUNTER)) % (databases - 1)))}`
    if (await ask(url.href, async (redis) => (await redis.dbsize()) === 0)) return url.href
  }
  throw new Error(`${redisUrl} has no empty database left: start one with --databases 1000, or leave REDIS_URL out.`)
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url)
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}
