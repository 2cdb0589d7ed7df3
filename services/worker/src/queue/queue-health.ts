import type { NodeWorker } from '@gateway/node-queue/node-worker'
import { assertNoEviction, RedisUnfit } from '@gateway/node-queue/redis-policy'
import type { HealthCheck } from '@gateway/service-kit/process/health'

/** An empty queue is polled every two seconds, and a full worker renews its locks within five. */
const SILENT_MS = 10_000
/** Long enough for every connection that can come back to have come back. */
const HUNG_MS = 60_000

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

/**
 * Whether only a new process would poll the queue again: it hangs, although Redis answers. While Redis is away nothing is
 * gained by starting anew.
 */
export function isNotHung(
  queue: Pick<NodeWorker, 'lastPolledMs'>,
  redisAnswers: HealthCheck,
  now: () => number,
): HealthCheck {
  return async () => {
    if (now() - queue.lastPolledMs() <= HUNG_MS) return null
    if ((await redisAnswers()) !== null) return null
    return `has not been polled for ${HUNG_MS / 1_000} seconds, although Redis answers`
  }
}
