import { JobAborted, type NodeJob } from './node-job.ts'

/** How a delivery of a job ended: it ran to its end, or is no longer ours, or is to be handed back. */
export type DeliveryOutcome = 'ran' | 'lost' | 'unfinished'

export interface RunningJobs {
  /**
   * Runs a job that was delivered, or waits for its end if it is under way here already (W3 of node-worker.ts).
   * @throws whatever the job threw, unless it was aborted
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
