import { openRedis } from '@gateway/service-kit/redis/open-redis'
import { Queue } from 'bullmq'
import { defaultPrefix, queueName } from './node-job.ts'

/** How much waits in the queue, for whoever decides how many workers there are. */
export interface QueueDepth {
  /** `oldestMs`: how long the oldest job has waited, 0 when none does. Null when Redis does not answer in time. */
  read(): Promise<{ waiting: number; oldestMs: number } | null>
  close(): Promise<void>
}

const COMMAND_MS = 1_000
const RETRY_MS = 1_000

/** @param now Unix milliseconds, by the clock of whoever enqueued */
export function openQueueDepth({
  redisUrl,
  prefix = defaultPrefix,
  now,
}: {
  redisUrl: string
  prefix?: string
  now: () => number
}): QueueDepth {
  const redis = openRedis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    socketTimeout: COMMAND_MS, // a connection on which Redis did not answer is given up for another
    retryStrategy: () => RETRY_MS,
  })
  redis.on('error', () => {}) // whoever reads is told by null
  const queue = new Queue(queueName, {
    connection: redis,
    prefix,
    skipVersionCheck: true,
    skipMetasUpdate: true,
    skipWaitingForReady: true,
  })
  queue.on('error', () => {})

  return {
    async read() {
      if (redis.status !== 'ready') return null
      try {
        const [waiting, [oldest]] = await Promise.all([queue.getWaitingCount(), queue.getJobs('waiting', 0, 0, true)])
        return { waiting, oldestMs: oldest ? Math.max(0, now() - oldest.timestamp) : 0 }
      } catch {
        return null
      }
    },
    async close() {
      await queue.close()
      redis.disconnect()
    },
  }
}
