import { once } from 'node:events'
import { backOffMs, type BackOffLimits } from '@gateway/service-kit/async/back-off'
import { openRedis } from '@gateway/service-kit/redis/open-redis'
import { Queue } from 'bullmq'
import { defaultPrefix, jobIdOf, queueName, readNodeJob, type NodeJob } from './node-job.ts'
import { sendInSpans } from './job-spans.ts'

/** Redis took no job, or not all of them. Nothing is lost by it: the ledger's job-requeuer enqueues again what nobody runs. */
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
  /** Enqueues nodes again. That is no new step of an execution: the jobs go in the trace that they carry, and get no span. */
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
  redis.on('error', () => {}) // whoever enqueues gets an error
  // Jobs may be added before the first connection stands; they wait for that one try.
  const firstTry = once(redis, 'ready').catch(() => {})
  const queue = new Queue<NodeJob>(queueName, {
    connection: redis,
    prefix,
    skipVersionCheck: true, // else the check, failing once, would make the queue fail for good
    skipWaitingForReady: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } }, // nobody reads them
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
