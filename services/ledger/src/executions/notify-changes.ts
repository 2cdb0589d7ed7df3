import type { NodeJob } from '@gateway/node-queue/node-job'
import type { ExecutionChange } from './store/execution-facts.ts'

/** Tells who waits for what was just written. It may be lost: whoever waits also looks, and maintenance jobs ring again. */
export interface Tell {
  /** Runs that have changed, and nodes that workers are to take up. */
  changed(changes: readonly ExecutionChange[], jobs: NodeJob[]): void
  /** Runs that are failing while nodes of them run. */
  ending(executions: readonly string[]): void
}

interface Deps {
  /** Rings a notifier; never fails. */
  notify: (topic: string) => void
  enqueue: (jobs: NodeJob[]) => Promise<void>
  /** Told when the queue could not be reached. */
  onQueueAway: (error: unknown, jobs: number) => void
}

/** Topics: `<execution>` for each line of progress, `done:<execution>` for the last, `end:<execution>` for what is to be aborted. */
export function telling({ notify, enqueue, onQueueAway }: Deps): Tell {
  return {
    changed(changes, jobs) {
      for (const { execution, seq, status, ending } of changes) {
        if (seq > execution.seq) notify(execution.id)
        if (status === 'Succeeded' || status === 'Failed') notify(`done:${execution.id}`)
        if (ending) notify(`end:${execution.id}`)
      }
      if (jobs.length > 0) enqueue(jobs).catch((error: unknown) => onQueueAway(error, jobs.length))
    },
    ending(executions) {
      for (const execution of executions) notify(`end:${execution}`)
    },
  }
}
