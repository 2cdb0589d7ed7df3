import type { NodeJob } from '@gateway/node-queue/node-job'
import { tracedEnqueue } from '@gateway/node-queue/trace-jobs'
import type { Deps } from '../deps.ts'

/**
 * Gives workers the nodes that may run, and waits for nothing. Where the queue is away they are lost, and job-requeuer finds them.
 * @param deps without a tracer the jobs go on in the trace that is stored with their execution, in no span of their own
 */
export function enqueueJobs(
  { nodeQueue, tracer, metrics }: Pick<Deps, 'nodeQueue' | 'tracer' | 'metrics'>,
  jobs: NodeJob[],
): void {
  if (jobs.length === 0) return
  const enqueue = tracedEnqueue(tracer, nodeQueue.enqueue)
  enqueue(jobs).catch((error: unknown) => metrics.enqueueFailed(error, jobs.length))
}
