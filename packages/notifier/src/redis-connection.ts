import { openRedis, type RedisClient } from '@gateway/redis/open-redis'

const BACK_OFF_MS = { first: 50, most: 2_000 }
const COMMAND_MS = 2_000

/**
 * A connection on which nothing ever waits for Redis: what can't be sent now fails now, and what got no answer is not sent
 * again. It comes back by itself.
 * @param onTrouble told the first error of an outage
 */
export function openRedisConnection(url: string, onTrouble: (error: Error) => void): RedisClient {
  const redis = openRedis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    retryStrategy: (times) => Math.min(BACK_OFF_MS.first * 2 ** (times - 1), BACK_OFF_MS.most),
  })
  let troubled = false
  redis.on('ready', () => (troubled = false))
  redis.on('error', (error: Error) => {
    if (!troubled) onTrouble(error)
    troubled = true
  })
  return redis
}
