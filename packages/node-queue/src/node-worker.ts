import { settlesWithin } from '@gateway/service-kit/async/waiting'
import { redisConnection } from '@gateway/service-kit/redis/open-redis'
import { type ConnectionOptions, type Job, WaitingError } from 'bullmq'
import { Cluster } from 'ioredis'
import { AbandonableWorker, observedBackend } from './node-queue.ts'
import { goOnInSpan, runInSpan } from './job-spans.ts'
import { defaultPrefix, JobAborted, type NodeJob, queueName, readNodeJob } from './node-job.ts'

// Takes jobs from the queue and runs them.
//   W1  The queue delivers at least once. What it runs is safe to repeat, and how often it is tried is counted in Postgres.
//   W2  Anyone who lost the lock of a job learns it by the signal, and leaves the job in the queue alone: it is another's now.
//   W3  No job runs twice at once in one process: a second delivery waits for the first.
//   W4  A stop takes nothing new, waits until its time limit, aborts the rest and hands back what is not finished,
//       so that another worker takes it at once. It ends in time even though Redis or a job does not answer.
//   W5  A job may continue with other nodes of its execution, one after the other, each in its own span; to the queue they are
//       one job. It continues for a slice of time, and after that while there is a free place here: where one is, no job waits for
//       it. Once this worker stops it continues with nothing.
//   W6  While it is paused it takes nothing new, so that nothing waits for a worker that could not run it; what runs continues.

/** What a job continues with (W5). */
export interface NextNode extends Pick<NodeJob, 'node' | 'attempt'> {
  run: (signal: AbortSignal) => Promise<NextNode | null>
}

export interface NodeWorkerOptions {
  redisUrl: string
  /** What every key begins with. */
  prefix?: string
  /** Jobs at once. */
  concurrency: number
  /** For how long a job continues though others may wait (W5). Milliseconds; 0: a job never continues. */
  sliceMs: number
  /**
   * Answers what the job continues with; null: nothing. Aborts of the signal have a `JobAborted` as their reason.
   * @param mayGoOn at this moment (W5)
   */
  run: (job: NodeJob, signal: AbortSignal, mayGoOn: () => boolean) => Promise<NextNode | null>
  /** A job ran to its end. */
  onRan?: () => void
  /** The lock of a job under way is lost, and its signal aborted. */
  onLost: (job: NodeJob) => void
  /** A job threw. It has left the queue, and its id is free again. */
  onFailed: (job: NodeJob, error: unknown) => void
  /** Redis is away or complains, or a job can't be read and is dropped. The same trouble is reported every ten seconds. */
  onTrouble: (error: Error) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

export interface NodeWorker {
  /** When the queue last answered (`now`). While as many jobs run as may, a renewal of locks counts; while it is paused, nothing is asked. */
  lastPolledMs(): number
  /** W6 */
  pause(): void
  resume(): void
  /** Jobs under way. */
  running(): number
  /** Stops within `limitMs` and two seconds (W4). Later calls wait for the first. */
  stop(limitMs: number): Promise<void>
}

const LOCK_MS = 10_000
/** With the lock this bounds how long a job of a dead worker waits: ten seconds, two looks, and one more if they overlap. */
const LOOK_FOR_STALLED_MS = 5_000
/** Postgres decides how often a node is tried. */
const NO_LIMIT = 1_000_000_000
const WAIT_FOR_JOB_S = 2
const RETRY_MS = 1_000
/** Longer than the wait for a job; shorter than a lock, so that a dead connection is replaced before a lock is lost. */
const SILENT_SOCKET_MS = 5_000
const GIVE_UP_MS = 2_000
const REPORT_AGAIN_MS = 10_000

/** Opens the side that runs jobs, and begins as soon as Redis answers. */
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
      connection: connection as ConnectionOptions, // its types know no absent strategy
      prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOOK_FOR_STALLED_MS,
      maxStalledCount: NO_LIMIT,
      drainDelay: WAIT_FOR_JOB_S,
      runRetryDelay: RETRY_MS,
      skipVersionCheck: true, // it warns on standard output; readiness looks at what matters
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
  async function runOn(job: NodeJob, signal: AbortSignal): Promise<void> {
    const untilMs = now() + sliceMs
    const hasRoom = () => running.count() < concurrency && !worker.isPaused()
    const mayGoOn = () => sliceMs > 0 && stopped === null && !signal.aborted && (now() < untilMs || hasRoom())
    let next = await runInSpan(job, () => options.run(job, signal, mayGoOn))
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
    const outcome = await deliver(bullJob.id ?? '', job)
    if (outcome === 'lost') throw new WaitingError() // leaves the job as it is
    if (outcome === 'unfinished') await handBack(bullJob, token)
  }

  async function deliver(id: string, job: NodeJob): Promise<DeliveryOutcome> {
    try {
      return await running.deliver(id, job)
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
    const closed = worker.close() // takes nothing new, and waits for what runs
    await settlesWithin(limitMs, running.idle())
    running.abortAll()
    if (!(await settlesWithin(GIVE_UP_MS, closed))) await worker.abandon()
    if (connection instanceof Cluster) connection.disconnect() // BullMQ leaves open what it was given
  }

  return {
    lastPolledMs: () => (worker.isPaused() ? polled() : polledMs),
    pause: () => void worker.pause(true).catch(report),
    resume: () => void worker.resume().catch(report),
    running: running.count,
    stop: (limitMs) => (stopped ??= stopWithin(limitMs)),
  }
}

/** How a delivery of a job ended: it ran to its end, or is no longer ours, or is to be handed back. */
export type DeliveryOutcome = 'ran' | 'lost' | 'unfinished'

export interface RunningJobs {
  /**
   * Runs a job that was delivered, or waits for its end if it is under way here already (W3 of node-worker.ts).
   * @throws the error of the job, unless it was aborted
   */
  deliver(id: string, job: NodeJob): Promise<DeliveryOutcome>
  /** The lock of a job is lost: aborts it. Answers the job the first time, otherwise null. */
  lose(id: string): NodeJob | null
  /** Aborts every job, since the worker stops, and begins no other. */
  abortAll(): void
  count(): number
  /** Resolves when nothing running. */
  idle(): Promise<void>
}

interface RunningJob {
  job: NodeJob
  aborter: AbortController
  /** The delivery that began it holds the lock no more. */
  lost: boolean
  over: Promise<void>
}

/** Keeps what is under way in this process, each job once. */
export function openRunningJobs(run: (job: NodeJob, signal: AbortSignal) => Promise<void>): RunningJobs {
  const running = new Map<string, RunningJob>()
  let stopping = false

  async function begin(id: string, job: NodeJob): Promise<DeliveryOutcome> {
    const over = Promise.withResolvers<void>()
    const begun: RunningJob = { job, aborter: new AbortController(), lost: false, over: over.promise }
    running.set(id, begun)
    try {
      await run(job, begun.aborter.signal)
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
    async deliver(id, job) {
      for (let earlier = running.get(id); earlier; earlier = running.get(id)) {
        earlier.lost = true // this delivery holds the lock now
        await earlier.over
        if (!earlier.aborter.signal.aborted) return 'ran'
      }
      return stopping ? 'unfinished' : begin(id, job)
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
