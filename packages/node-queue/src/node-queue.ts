import { once } from 'node:events'
import { openRedis } from '@gateway/redis/open-redis'
import { Queue } from 'bullmq'
import { jobIdOf, readNodeJob, type NodeJob } from './node-job.ts'
import { defaultPrefix, queueName } from './queue-name.ts'

/** Redis took no job, or not all of them. Nothing is lost by it: the ledger's maintenance job rings again for what nobody runs. */
export class QueueUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the node queue is unavailable', options)
  }
}

export interface NodeQueue {
  /**
   * Rings for these nodes. A job that is waiting or under way is not added again, and nobody is told.
   * @throws QueueUnavailable when Redis is away; some of them may have been added. To repeat is harmless.
   */
  enqueue(jobs: NodeJob[]): Promise<void>
  close(): Promise<void>
}

interface NodeQueueOptions {
  redisUrl: string
  /** What every key begins with. */
  prefix?: string
}

const BATCH_JOBS = 500
const COMMAND_MS = 2_000
const BACK_OFF_MS = { first: 50, most: 1_000 }

/** Opens the side that adds. Nothing waits for Redis: what can't be sent now fails now. The connection comes back by itself. */
export function openNodeQueue({ redisUrl, prefix = defaultPrefix }: NodeQueueOptions): NodeQueue {
  const redis = openRedis(redisUrl, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    retryStrategy: (times) => Math.min(BACK_OFF_MS.first * 2 ** (times - 1), BACK_OFF_MS.most),
  })
  redis.on('error', () => {}) // whoever enqueues is told
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

  return {
    async enqueue(jobs) {
      const adding = jobs.map((job) => ({ name: 'node', data: readNodeJob(job), opts: { jobId: jobIdOf(job) } }))
      await firstTry
      for (let at = 0; at < adding.length; at += BATCH_JOBS) {
        try {
          await queue.addBulk(adding.slice(at, at + BATCH_JOBS))
        } catch (error) {
          throw new QueueUnavailable({ cause: error })
        }
      }
    },
    async close() {
      await queue.close()
      await redis.quit().catch(() => redis.disconnect())
    },
  }
}
