import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Deps } from '../deps.ts'
import { type ExecutionChange, hasEnded } from './store/read-executions.ts'

/**
 * Enqueues ready nodes for workers without waiting. If the queue is down, the jobs are lost and job-requeuer enqueues
 * them again.
 */
export function enqueueJobs({ nodeQueue, metrics }: Pick<Deps, 'nodeQueue' | 'metrics'>, jobs: NodeJob[]): void {
  if (jobs.length > 0) nodeQueue.enqueue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}

/** Enqueues jobs that no worker has claimed again, in the same way. */
export function enqueueAgain({ nodeQueue, metrics }: Pick<Deps, 'nodeQueue' | 'metrics'>, jobs: NodeJob[]): void {
  if (jobs.length > 0) nodeQueue.requeue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}

// A notification means "re-read" and may be lost: waiting callers also poll, and maintenance repeats the last kind.
// Topics: `<execution>` for each line of progress, `done:<execution>` for the last line, `end:<execution>` for nodes to
// be aborted.

/** Notifies followers of executions that have changed. */
export function notifyChanges({ notifier }: Pick<Deps, 'notifier'>, changes: Iterable<ExecutionChange>): void {
  for (const change of changes) {
    const { execution, seq, ending } = change
    if (seq > execution.seq) notifier.notify(execution.id)
    if (hasEnded(change)) notifier.notify(`done:${execution.id}`)
    if (ending) notifyEnding({ notifier }, execution.id)
  }
}

/** Notifies the workers that run nodes of a failing execution. */
export function notifyEnding({ notifier }: Pick<Deps, 'notifier'>, execution: string): void {
  notifier.notify(`end:${execution}`)
}
