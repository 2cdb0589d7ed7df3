import { once } from 'node:events'
import { type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'
import { mastersOf, openRedis } from '@gateway/service-kit/redis/open-redis'
import { type BackendFactory, createRedisBackend, Queue, type RedisQueueBackend, Worker } from 'bullmq'
import { defaultPrefix, jobIdOf, type NodeJob, queueName, readNodeJob } from './node-job.ts'
import { sendInSpans } from './job-spans.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** Redis took no job, or not all of them. Nothing is lost by it: the ledger's job-requeuer enqueues again what no one runs. */
export class QueueUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the node queue is unavailable', options)
  }
}

export interface NodeQueue {
  /**
   * Enqueues these nodes. A job that is waiting or under way is silently not added again.
   * @throws QueueUnavailable when Redis is away; some of them may have been added. To repeat is harmless.
   */
  enqueue(jobs: NodeJob[]): Promise<void>
  /** Enqueues nodes again. That is not a new step of an execution: the jobs go in the trace that they carry, and get no span. */
  requeue(jobs: NodeJob[]): Promise<void>
  close(): Promise<void>
}

interface NodeQueueOptions {
  redisUrl: string
  /** What every key begins with. */
  prefix?: string
}

const BATCH_JOBS = 500
const COMMAND_MS = 2_000
const BACK_OFF: BackOffLimits = { firstMs: 50, maxMs: 1_000 }

/** Opens the side that adds. Nothing waits for Redis: what can't be sent now fails now. The connection comes back by itself. */
export function openNodeQueue({ redisUrl, prefix = defaultPrefix }: NodeQueueOptions): NodeQueue {
  const redis = openRedis(redisUrl, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    socketTimeout: COMMAND_MS, // a connection on which Redis did not answer is given up for another
    retryStrategy: (times) => backOffMs(times, BACK_OFF),
  })
  redis.on('error', () => {}) // anyone who enqueues gets an error
  // Jobs may be added before the first connection stands; they wait for that one try.
  const firstTry = once(redis, 'ready').catch(() => {})
  const queue = new Queue<NodeJob>(queueName, {
    connection: redis,
    prefix,
    skipVersionCheck: true, // else the check, failing once, would make the queue fail for good
    skipWaitingForReady: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } }, // no one reads them
  })
  queue.on('error', () => {})

  async function add(jobs: NodeJob[]): Promise<void> {
    const adding = jobs.map((job) => ({ name: 'node', data: readNodeJob(job), opts: { jobId: jobIdOf(job) } }))
    await firstTry
    for (let at = 0; at < adding.length; at += BATCH_JOBS) {
      try {
        await queue.addBulk(adding.slice(at, at + BATCH_JOBS))
      } catch (error) {
        throw new QueueUnavailable({ cause: error })
      }
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

/** How much waits in the queue, for anyone who decides how many workers there are. */
export interface QueueDepth {
  /** `oldestMs`: how long the oldest job has waited, 0 when none does. Null when Redis does not answer in time. */
  read(): Promise<{ waiting: number; oldestMs: number } | null>
  close(): Promise<void>
}

const DEPTH_COMMAND_MS = 1_000
const RETRY_MS = 1_000

/** @param now Unix milliseconds, by the clock of anyone who enqueued */
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
    socketTimeout: DEPTH_COMMAND_MS, // a connection on which Redis did not answer is given up for another
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
 * Of every server that holds data. INFO and not CONFIG, which managed servers often forbid. On its own connection, so
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

/** A BullMQ worker that can be left behind: its own `close` waits for its jobs and for Redis, without end. */
export class AbandonableWorker<Data> extends Worker<Data, void> {
  /** Closes the connections and ends the renewal of locks, which then expire. To be called after `close`, if that hangs. */
  async abandon(): Promise<void> {
    await this.lockManager.close()
    await this.backend.close(true)
  }
}

/** After an answer that is an error (a full or a read-only Redis) BullMQ would ask again at once, forever. */
const PAUSE_AFTER_ERROR_MS = 500

/** BullMQ's connection to Redis, which also calls back each time that Redis answered when it was asked for a job. */
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
