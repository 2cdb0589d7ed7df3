import type { NodeWorker } from '@gateway/node-queue/node-worker'
import { assertNoEviction, RedisUnfit } from '@gateway/node-queue/redis-policy'
import type { HealthCheck } from '@gateway/process/health'

/** An empty queue is polled every two seconds, and a full worker renews its locks within five. */
const SILENT_MS = 10_000

/** Ready is only who has a Redis that keeps what it was given: BullMQ itself would just warn. */
export function neverEvicts(redisUrl: string): HealthCheck {
  return async () => {
    try {
      await assertNoEviction(redisUrl)
      return null
    } catch (error) {
      if (error instanceof RedisUnfit) return error.message
      throw error
    }
  }
}

/** Whether the queue was polled a short while ago: a connection can hang although Redis answers others. */
export function isPolled(queue: Pick<NodeWorker, 'lastPolledMs'>, now: () => number): HealthCheck {
  return () =>
    now() - queue.lastPolledMs() > SILENT_MS ? `has not been polled for ${SILENT_MS / 1_000} seconds` : null
}
