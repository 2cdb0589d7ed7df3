import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Deps } from '../deps.ts'
import { type ExecutionChange, hasEnded } from './store/execution-facts.ts'

/**
 * Gives workers the nodes that may run, and waits for nothing. Where the queue is away the jobs are lost, and
 * job-requeuer finds them.
 */
export function enqueueJobs({ nodeQueue, metrics }: Pick<Deps, 'nodeQueue' | 'metrics'>, jobs: NodeJob[]): void {
  if (jobs.length > 0) nodeQueue.enqueue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}

/** Gives workers jobs that no one has taken up, in the same way. */
export function enqueueAgain({ nodeQueue, metrics }: Pick<Deps, 'nodeQueue' | 'metrics'>, jobs: NodeJob[]): void {
  if (jobs.length > 0) nodeQueue.requeue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}

// A notification says "look again" and may be lost: anyone who waits also looks by themselves, and maintenance repeats the
// last kind. Topics: `<execution>` for each line of progress, `done:<execution>` for the last one, `end:<execution>`
// for nodes to be aborted.

/** Wakes those who follow executions that have changed. */
export function notifyChanges({ notifier }: Pick<Deps, 'notifier'>, changes: Iterable<ExecutionChange>): void {
  for (const change of changes) {
    const { execution, seq, ending } = change
    if (seq > execution.seq) notifier.notify(execution.id)
    if (hasEnded(change)) notifier.notify(`done:${execution.id}`)
    if (ending) notifyEnding({ notifier }, execution.id)
  }
}

/** Wakes the workers that execution nodes of an execution that is failing. */
export function notifyEnding({ notifier }: Pick<Deps, 'notifier'>, execution: string): void {
  notifier.notify(`end:${execution}`)
}
