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
// Topics: `done:<execution>` for its end, `end:<execution>` for nodes to be aborted. Lines of progress are sent as texts
// (push-lines.ts).

/** Notifies who waits for the end of an execution, and the workers that run nodes of one that is to end. */
export function notifyChanges({ notifier }: Pick<Deps, 'notifier'>, changes: Iterable<ExecutionChange>): void {
  for (const change of changes) {
    const { id } = change.execution
    if (hasEnded(change)) notifier.notify(`done:${id}`)
    if (change.ending) notifyEnding({ notifier }, id)
  }
}

/** Notifies the workers that run nodes of a failing execution. */
export function notifyEnding({ notifier }: Pick<Deps, 'notifier'>, execution: string): void {
  notifier.notify(`end:${execution}`)
}
