import type { NodeJob } from '@gateway/node-queue/node-job'
import type { RunChange } from './run-facts.ts'

/** Tells who waits for what was just written. It may be lost: whoever waits also looks, and keepers ring again. */
export interface Tell {
  /** Runs that have changed, and nodes that workers are to take up. */
  changed(changes: readonly RunChange[], jobs: NodeJob[]): void
  /** Runs that are failing while nodes of them run. */
  ending(executions: readonly string[]): void
}

interface Needs {
  /** Rings a bell; never fails. */
  ring: (topic: string) => void
  enqueue: (jobs: NodeJob[]) => Promise<void>
  /** Told when the queue could not be reached. */
  onQueueAway: (error: unknown, jobs: number) => void
}

/** Topics: `<execution>` for each line of progress, `done:<execution>` for the last, `end:<execution>` for what is to be aborted. */
export function telling({ ring, enqueue, onQueueAway }: Needs): Tell {
  return {
    changed(changes, jobs) {
      for (const { run, seq, status, ending } of changes) {
        if (seq > run.seq) ring(run.id)
        if (status === 'Succeeded' || status === 'Failed') ring(`done:${run.id}`)
        if (ending) ring(`end:${run.id}`)
      }
      if (jobs.length > 0) enqueue(jobs).catch((error: unknown) => onQueueAway(error, jobs.length))
    },
    ending(executions) {
      for (const execution of executions) ring(`end:${execution}`)
    },
  }
}
