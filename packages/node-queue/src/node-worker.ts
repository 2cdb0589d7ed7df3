import { settlesWithin } from '@gateway/service-kit/async/waiting'
import { redisConnection } from '@gateway/service-kit/redis/open-redis'
import { type ConnectionOptions, type Job, WaitingError } from 'bullmq'
import { Cluster } from 'ioredis'
import { AbandonableWorker, observedBackend } from './node-queue.ts'
import { goOnInSpan, runInSpan } from './job-spans.ts'
import { defaultPrefix, JobAborted, type NodeJob, queueName, readNodeJob } from './node-job.ts'

// Takes jobs from the queue and runs them.
//   W1  The queue delivers at least once. Runs are safe to repeat, and attempts are counted in Postgres.
//   W2  If the lock of a job is lost, its signal aborts and this worker no longer touches the job in the queue: another
//       worker may have it.
//   W3  No job runs twice concurrently in one process: a second delivery waits for the first.
//   W4  A stop takes no new jobs, waits until its time limit, aborts the rest and returns unfinished jobs to the queue,
//       so another worker takes them immediately. It completes in time even if Redis or a job does not respond.
//   W5  By default each node is a job. With a slice of time, a job continues for that time with free nodes of its
//       execution in sequence, each in a separate span; to the queue they are one job. Once this worker stops, no job
//       continues.
//   W6  A paused worker takes no new jobs, so that no job waits for a worker that can't run it; running jobs continue.

/** One delivery of a job. */
export interface Delivery {
  /** The abort reason is a `JobAborted`. */
  signal: AbortSignal
  /** False if the queue has delivered it before: the worker that had it gave it back, lost its lock or died. */
  isFirst: boolean
  /** Whether the job may continue now (W5). */
  mayGoOn: () => boolean
}

/** Node that a job continues with (W5). */
export interface NextNode extends Pick<NodeJob, 'node' | 'attempt'> {
  run: (signal: AbortSignal) => Promise<NextNode | null>
}

export interface NodeWorkerOptions {
  redisUrl: string
  /** Prefix of every key. */
  prefix?: string
  /** Maximum number of concurrent jobs. */
  concurrency: number
  /** How long a job may continue (W5). Milliseconds; 0: never. */
  sliceMs: number
  /** Returns the node that the job continues with, or null. */
  run: (job: NodeJob, delivery: Delivery) => Promise<NextNode | null>
  /** A job ran to its end. */
  onRan?: () => void
  /** The lock of a running job was lost, and its signal aborted. */
  onLost: (job: NodeJob) => void
  /** A job threw. It has been removed from the queue, and its ID is free again. */
  onFailed: (job: NodeJob, error: unknown) => void
  /** Redis is unavailable or returned an error, or an unreadable job was dropped. Repeats come every ten seconds. */
  onTrouble: (error: Error) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

export interface NodeWorker {
  /**
   * Time of the queue's last response (`now`). While all slots are in use, lock renewals count; while paused, nothing
   * is polled.
   */
  lastPolledMs(): number
  /** W6 */
  pause(): void
  resume(): void
  /** Number of running jobs. */
  running(): number
  /** Stops within `limitMs` and two seconds (W4). Later calls wait for the first. */
  stop(limitMs: number): Promise<void>
}

const LOCK_MS = 10_000
/** With the lock this bounds how long a dead worker's job waits: ten seconds plus two checks, three if they overlap. */
const LOOK_FOR_STALLED_MS = 5_000
/** Postgres decides how often a node is retried. */
const NO_LIMIT = 1_000_000_000
const WAIT_FOR_JOB_S = 2
const RETRY_MS = 1_000
/** Longer than the wait for a job, but shorter than a lock, so a dead connection is replaced before a lock is lost. */
const SILENT_SOCKET_MS = 5_000
const GIVE_UP_MS = 2_000
const REPORT_AGAIN_MS = 10_000

/** Opens the consumer side. It starts running jobs as soon as Redis responds. */
export function openNodeWorker(options: NodeWorkerOptions): NodeWorker {
  const { redisUrl, prefix = defaultPrefix, concurrency, sliceMs, now = () => performance.now() } = options
  const running = openRunningJobs(runOn)
  let polledMs = now()
  let stopped: Promise<void> | null = null
  let reported = { message: '', ms: -Infinity }
  const polled = () => (polledMs = now())

  const connection = redisConnection(redisUrl, {
    maxRetriesPerRequest: null,
    connectTimeout: SILENT_SOCKET_MS,
    socketTimeout: SILENT_SOCKET_MS,
    retryStrategy: (times) => Math.min(100 * times, RETRY_MS),
  })
  const worker = new AbandonableWorker<NodeJob>(
    queueName,
    (job, token) => {
      polled()
      return work(job, token ?? '')
    },
    {
      connection: connection as ConnectionOptions, // its types don't allow an absent strategy
      prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOOK_FOR_STALLED_MS,
      maxStalledCount: NO_LIMIT,
      drainDelay: WAIT_FOR_JOB_S,
      runRetryDelay: RETRY_MS,
      skipVersionCheck: true, // it would only print a warning; readiness checks what matters
    },
    observedBackend(polled),
  )
  worker.on('error', report)
  worker.on('locksRenewed', () => {
    if (running.count() >= concurrency) polled()
  })
  worker.on('lockRenewalFailed', (ids) => {
    for (const id of ids) {
      const job = running.lose(id) // W2
      if (job) options.onLost(job)
    }
  })

  /** W5 */
  async function runOn(job: NodeJob, signal: AbortSignal, isFirst: boolean): Promise<void> {
    const untilMs = now() + sliceMs
    const mayGoOn = () => now() < untilMs && stopped === null && !signal.aborted
    let next = await runInSpan(job, () => options.run(job, { signal, isFirst, mayGoOn }))
    while (next !== null) {
      const { run } = next
      next = await goOnInSpan(job, next, () => run(signal))
    }
    options.onRan?.()
  }

  async function work(bullJob: Job<NodeJob>, token: string): Promise<void> {
    if (stopped !== null) return handBack(bullJob, token)
    const job = read(bullJob)
    if (job === null) return
    const outcome = await deliver(bullJob.id ?? '', job, bullJob.attemptsStarted === 1)
    if (outcome === 'lost') throw new WaitingError() // leaves the job unchanged
    if (outcome === 'unfinished') await handBack(bullJob, token)
  }

  async function deliver(id: string, job: NodeJob, isFirst: boolean): Promise<DeliveryOutcome> {
    try {
      return await running.deliver(id, job, isFirst)
    } catch (error) {
      options.onFailed(job, error)
      throw error
    }
  }

  async function handBack(bullJob: Job<NodeJob>, token: string): Promise<never> {
    await bullJob.moveToWait(token).catch(report)
    throw new WaitingError()
  }

  function read(bullJob: Job<NodeJob>): NodeJob | null {
    try {
      return readNodeJob(bullJob.data)
    } catch (error) {
      report(new Error(`job ${bullJob.id} can't be read and is dropped`, { cause: error }))
      return null
    }
  }

  function report(error: Error): void {
    if (stopped !== null) return
    if (error.message === reported.message && now() - reported.ms < REPORT_AGAIN_MS) return
    reported = { message: error.message, ms: now() }
    options.onTrouble(error)
  }

  async function stopWithin(limitMs: number): Promise<void> {
    const closed = worker.close() // takes no new jobs and waits for running ones
    await settlesWithin(limitMs, running.idle())
    running.abortAll()
    if (!(await settlesWithin(GIVE_UP_MS, closed))) await worker.abandon()
    if (connection instanceof Cluster) connection.disconnect() // BullMQ does not close a connection it was given
  }

  return {
    lastPolledMs: () => (worker.isPaused() ? polled() : polledMs),
    pause: () => void worker.pause(true).catch(report),
    resume: () => void worker.resume().catch(report),
    running: running.count,
    stop: (limitMs) => (stopped ??= stopWithin(limitMs)),
  }
}

/** How a delivery of a job ended: it ran to its end, its lock was lost, or it must be returned to the queue. */
export type DeliveryOutcome = 'ran' | 'lost' | 'unfinished'

export interface RunningJobs {
  /**
   * Runs a delivered job, or waits for its end if this process already runs it (W3 of node-worker.ts).
   * @throws the error of the job, unless it was aborted
   */
  deliver(id: string, job: NodeJob, isFirst: boolean): Promise<DeliveryOutcome>
  /** Aborts a job whose lock was lost. Returns the job the first time, otherwise null. */
  lose(id: string): NodeJob | null
  /** Aborts every job because the worker stops, and starts no others. */
  abortAll(): void
  count(): number
  /** Resolves when no job is running. */
  idle(): Promise<void>
}

interface RunningJob {
  job: NodeJob
  aborter: AbortController
  /** The delivery that started it no longer has the lock. */
  lost: boolean
  over: Promise<void>
}

/** Tracks the running jobs of this process, each once. */
export function openRunningJobs(
  run: (job: NodeJob, signal: AbortSignal, isFirst: boolean) => Promise<void>,
): RunningJobs {
  const running = new Map<string, RunningJob>()
  let stopping = false

  async function begin(id: string, job: NodeJob, isFirst: boolean): Promise<DeliveryOutcome> {
    const over = Promise.withResolvers<void>()
    const begun: RunningJob = { job, aborter: new AbortController(), lost: false, over: over.promise }
    running.set(id, begun)
    try {
      await run(job, begun.aborter.signal, isFirst)
      return begun.lost ? 'lost' : 'ran'
    } catch (error) {
      if (!begun.aborter.signal.aborted) throw error
      return begun.lost ? 'lost' : 'unfinished'
    } finally {
      running.delete(id)
      over.resolve()
    }
  }

  return {
    async deliver(id, job, isFirst) {
      for (let earlier = running.get(id); earlier; earlier = running.get(id)) {
        earlier.lost = true // this delivery has the lock now
        await earlier.over
        if (!earlier.aborter.signal.aborted) return 'ran'
      }
      return stopping ? 'unfinished' : begin(id, job, isFirst)
    },
    lose(id) {
      const found = running.get(id)
      if (!found || found.aborter.signal.aborted) return null
      found.lost = true
      found.aborter.abort(new JobAborted('lost'))
      return found.job
    },
    abortAll() {
      stopping = true
      for (const { aborter } of running.values()) aborter.abort(new JobAborted('stopping'))
    },
    count: () => running.size,
    async idle() {
      while (running.size > 0) await Promise.all([...running.values()].map(({ over }) => over))
    },
  }
}
