import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { inject } from 'vitest'

export interface FreshRedis {
  url: string
  /** To be put before every key and channel. In braces, so that a cluster keeps them together. */
  prefix: string
  /** Removes the keys. */
  drop: () => Promise<void>
}

/** A name space of one's own on the run's Redis. Who flushes or kills it takes `privateRedis` instead. */
export function freshRedis(): FreshRedis {
  const { redisUrl: url } = inject('testServers')
  const prefix = `{t${randomBytes(6).toString('hex')}}`
  return { url, prefix, drop: () => dropKeys(url, prefix) }
}

async function dropKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url)
  try {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 500)
      if (keys.length > 0) await redis.unlink(keys)
      cursor = next
    } while (cursor !== '0')
  } finally {
    redis.disconnect()
  }
}
