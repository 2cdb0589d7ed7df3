import { JobAborted, type NodeJob } from './node-job.ts'

/** How a delivery of a job ended: its run has, or the job is no longer ours, or it is to be handed back. */
export type DeliveryOutcome = 'ran' | 'lost' | 'unfinished'

export interface RunningJobs {
  /**
   * Runs a job that was delivered, or waits for its run if it is under way here already (W3).
   * @throws whatever the run threw, unless it was aborted
   */
  deliver(id: string, job: NodeJob): Promise<DeliveryOutcome>
  /** The lock of a job is lost: aborts its run. Answers the job the first time, otherwise null. */
  lose(id: string): NodeJob | null
  /** Aborts every run, since the worker stops, and begins no other. */
  abortAll(): void
  count(): number
  /** Resolves when nothing runs. */
  idle(): Promise<void>
}

interface Run {
  job: NodeJob
  aborter: AbortController
  /** The delivery that began it holds the lock no more. */
  lost: boolean
  over: Promise<void>
}

/** Keeps what is under way in this process, one run per job. */
export function openRunningJobs(run: (job: NodeJob, signal: AbortSignal) => Promise<void>): RunningJobs {
  const runs = new Map<string, Run>()
  let stopping = false

  async function begin(id: string, job: NodeJob): Promise<DeliveryOutcome> {
    const over = Promise.withResolvers<void>()
    const begun: Run = { job, aborter: new AbortController(), lost: false, over: over.promise }
    runs.set(id, begun)
    try {
      await run(job, begun.aborter.signal)
      return begun.lost ? 'lost' : 'ran'
    } catch (error) {
      if (!begun.aborter.signal.aborted) throw error
      return begun.lost ? 'lost' : 'unfinished'
    } finally {
      runs.delete(id)
      over.resolve()
    }
  }

  return {
    async deliver(id, job) {
      for (let earlier = runs.get(id); earlier; earlier = runs.get(id)) {
        earlier.lost = true // this delivery holds the lock now
        await earlier.over
        if (!earlier.aborter.signal.aborted) return 'ran'
      }
      return stopping ? 'unfinished' : begin(id, job)
    },
    lose(id) {
      const found = runs.get(id)
      if (!found || found.aborter.signal.aborted) return null
      found.lost = true
      found.aborter.abort(new JobAborted('lost'))
      return found.job
    },
    abortAll() {
      stopping = true
      for (const { aborter } of runs.values()) aborter.abort(new JobAborted('stopping'))
    },
    count: () => runs.size,
    async idle() {
      while (runs.size > 0) await Promise.all([...runs.values()].map(({ over }) => over))
    },
  }
}
