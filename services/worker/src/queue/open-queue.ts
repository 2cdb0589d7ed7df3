import { type NodeWorker, openNodeWorker } from '@gateway/node-queue/node-worker'
import type { Deps } from '../deps.ts'
import { LedgerSilent, runNode } from '../run/run-node.ts'
import { assertNoEviction, type QueueDepth, RedisUnfit } from '@gateway/node-queue/node-queue'
import type { HealthCheck } from '@gateway/service-kit/process/open-service'
import type { Meter } from '@opentelemetry/api'

interface Options {
  redisUrl: string
  /** Maximum number of concurrent nodes. */
  concurrency: number
  /** How long a job may continue with other nodes of its execution while other jobs wait. Milliseconds; 0: never. */
  sliceMs: number
}

/** Opens the queue and starts taking jobs. Takes no jobs while the ledger does not respond. */
export function openQueue(deps: Deps, { redisUrl, concurrency, sliceMs }: Options): NodeWorker {
  const { metrics, log, instance, now } = deps
  const queue = openNodeWorker({
    redisUrl,
    concurrency,
    sliceMs,
    run: (job, delivery) => runNode(deps, job, delivery),
    onRan: () => metrics.jobEnded('ran'),
    onLost({ execution, node, attempt }) {
      metrics.jobEnded('lost')
      log.warn({ execution, node, attempt }, 'job lock lost, its node continues under its lease')
    },
    onFailed({ execution, node, attempt }, error) {
      metrics.jobEnded('failed')
      if (error instanceof LedgerSilent) return // logged once for all jobs, below
      log.error({ err: error, execution, node, attempt }, 'job failed')
    },
    onTrouble: (error) => log.warn({ err: error }, 'node queue error'),
    now,
  })
  metrics.watch(queue)
  instance.onSilence((silent) => {
    log.warn({ silent }, silent ? 'ledger silent, taking no jobs' : 'ledger heard again, taking jobs')
    if (silent) queue.pause()
    else queue.resume()
  })
  return queue
}

/** Limit for readiness. An empty queue is polled every two seconds, and a full worker renews its locks within five. */
const SILENT_MS = 10_000
/** Limit for liveness, long enough for every recoverable connection to reconnect. */
const HUNG_MS = 60_000

/** Checks that Redis does not evict keys; BullMQ itself would only warn. */
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

/** Checks that the queue was polled recently: a connection can hang although Redis responds on others. */
export function isPolled(queue: Pick<NodeWorker, 'lastPolledMs'>, now: () => number): HealthCheck {
  return () =>
    now() - queue.lastPolledMs() > SILENT_MS ? `has not been polled for ${SILENT_MS / 1_000} seconds` : null
}

/**
 * Fails if only a restart would make the queue poll again: polling hangs although Redis responds. While Redis is down a
 * restart would not help.
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

/** Reports the depth of the queue. Every worker reports the same value, so aggregate with max, not sum. */
export function watchQueue(meter: Meter, depth: Pick<QueueDepth, 'read'>): void {
  const waiting = meter.createObservableGauge('worker.queue.waiting', {
    description: 'Jobs waiting for a worker',
    unit: '{job}',
  })
  const oldest = meter.createObservableGauge('worker.queue.oldest', {
    description: 'Wait of the oldest waiting job',
    unit: 's',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const found = await depth.read()
      if (found === null) return
      result.observe(waiting, found.waiting)
      result.observe(oldest, found.oldestMs / 1_000)
    },
    [waiting, oldest],
  )
}
