import { once } from 'node:events'
import { type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'
import { mastersOf, openRedis } from '@gateway/service-kit/redis/open-redis'
import { type BackendFactory, createRedisBackend, Queue, type RedisQueueBackend, Worker } from 'bullmq'
import { defaultPrefix, jobIdOf, type NodeJob, queueName, readNodeJob } from './node-job.ts'
import { sendInSpans } from './job-spans.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** Redis did not accept all jobs. No work is lost: the ledger's job-requeuer enqueues nodes that are not running. */
export class QueueUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the node queue is unavailable', options)
  }
}

export interface NodeQueue {
  /**
   * Enqueues these nodes. A job that is already waiting or running is silently skipped.
   * @throws QueueUnavailable if Redis is unavailable; some jobs may have been added. Safe to retry.
   */
  enqueue(jobs: NodeJob[]): Promise<void>
  /**
   * Enqueues nodes again. This is not a new step of an execution: the jobs keep the trace they carry and get no span.
   */
  requeue(jobs: NodeJob[]): Promise<void>
  close(): Promise<void>
}

interface NodeQueueOptions {
  redisUrl: string
  /** Prefix of every key. */
  prefix?: string
}

const BATCH_JOBS = 500
/** A transaction costs more than these alone: ioredis copies all scripts of BullMQ to each. */
const FEW_JOBS = 16
const COMMAND_MS = 2_000
const BACK_OFF: BackOffLimits = { firstMs: 50, maxMs: 1_000 }

/** Opens the producer side. Nothing waits for Redis: jobs that can't be sent fail at once. Reconnects automatically. */
export function openNodeQueue({ redisUrl, prefix = defaultPrefix }: NodeQueueOptions): NodeQueue {
  const redis = openRedis(redisUrl, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    socketTimeout: COMMAND_MS, // a connection on which Redis does not respond is replaced
    retryStrategy: (times) => backOffMs(times, BACK_OFF),
  })
  redis.on('error', () => {}) // callers of enqueue get an error
  // Jobs may be added before the first connection is established; they wait for that first attempt.
  const firstTry = once(redis, 'ready').catch(() => {})
  const queue = new Queue<NodeJob>(queueName, {
    connection: redis,
    prefix,
    skipVersionCheck: true, // otherwise one failed check would make the queue fail permanently
    skipWaitingForReady: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } }, // no one reads them
  })
  queue.on('error', () => {})

  async function add(jobs: NodeJob[]): Promise<void> {
    const adding = jobs.map((job) => ({ name: 'node', data: readNodeJob(job), opts: { jobId: jobIdOf(job) } }))
    await firstTry
    try {
      if (adding.length <= FEW_JOBS)
        await Promise.all(adding.map(({ name, data, opts }) => queue.add(name, data, opts)))
      else for (let at = 0; at < adding.length; at += BATCH_JOBS) await queue.addBulk(adding.slice(at, at + BATCH_JOBS))
    } catch (error) {
      throw new QueueUnavailable({ cause: error })
    }
  }

  return {
    enqueue: (jobs) => sendInSpans(jobs, add),
    requeue: add,
    async close() {
      await queue.close()
      await redis.quit().catch(() => redis.disconnect())
    },
  }
}

/** Depth of the queue, for scaling workers. */
export interface QueueDepth {
  /** `oldestMs`: wait time of the oldest job; 0 if none waits. Null if Redis does not respond in time. */
  read(): Promise<{ waiting: number; oldestMs: number } | null>
  close(): Promise<void>
}

const DEPTH_COMMAND_MS = 1_000
const RETRY_MS = 1_000

/** @param now Unix milliseconds, by the clock of the enqueuing process */
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
    commandTimeout: DEPTH_COMMAND_MS,
    connectTimeout: DEPTH_COMMAND_MS,
    socketTimeout: DEPTH_COMMAND_MS, // a connection on which Redis does not respond is replaced
    retryStrategy: () => RETRY_MS,
  })
  redis.on('error', () => {}) // readers get null
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

/** Redis can't currently be used for a queue. The message contains no address, so readiness checks may show it. */
export class RedisUnfit extends Error {}

const LIMIT_MS = 800

/**
 * For readiness: resolves if Redis responds and never evicts. A Redis that evicts drops keys of the queue under memory
 * pressure, which breaks the queue silently.
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
 * Returns INFO of every server that stores data. Uses INFO instead of CONFIG, which managed servers often forbid. Uses
 * a separate connection, so that no other command waits behind it.
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

/** BullMQ worker that can be abandoned: its `close` waits for its jobs and for Redis without a limit. */
export class AbandonableWorker<Data> extends Worker<Data, void> {
  /** Closes the connections and stops renewing locks, which then expire. Call it after `close` if that hangs. */
  async abandon(): Promise<void> {
    await this.lockManager.close()
    await this.backend.close(true)
  }
}

/** After an error response (a full or read-only Redis) BullMQ would retry immediately and endlessly. */
const PAUSE_AFTER_ERROR_MS = 500

/** BullMQ's Redis backend, which also calls back each time Redis responds to a poll for a job. */
export function observedBackend(onAnswer: () => void): BackendFactory<RedisQueueBackend> {
  return (...options) => {
    const backend = createRedisBackend(...options)
    const ask = backend.moveToActive.bind(backend)
    backend.moveToActive = async (token, name) => {
      try {
        const answer = await ask(token, name)
        onAnswer()
        return answer
      } catch (error) {
        if (!backend.closing) await delay(PAUSE_AFTER_ERROR_MS)
        throw error
      }
    }
    return backend
  }
}
