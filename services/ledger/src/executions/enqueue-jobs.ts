import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Deps } from '../deps.ts'

/** Gives workers the nodes that may run, and waits for nothing. Where the queue is away the jobs are lost, and job-requeuer finds them. */
export function enqueueJobs({ nodeQueue, metrics }: Pick<Deps, 'nodeQueue' | 'metrics'>, jobs: NodeJob[]): void {
  if (jobs.length > 0) nodeQueue.enqueue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}

/** Gives workers jobs that nobody has taken up, in the same way. */
export function enqueueAgain({ nodeQueue, metrics }: Pick<Deps, 'nodeQueue' | 'metrics'>, jobs: NodeJob[]): void {
  if (jobs.length > 0) nodeQueue.requeue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}
