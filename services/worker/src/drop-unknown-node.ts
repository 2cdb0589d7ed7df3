import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Logger } from '@gateway/process/logger'

/**
 * Runs a job whose node the books don't know: says so and is done. The ledger records no executions yet, so this is every
 * job. It stays right afterwards for what was rung before its execution was deleted: a doorbell is not the truth.
 */
export function dropUnknownNode({ log }: { log: Pick<Logger, 'warn'> }): (job: NodeJob) => Promise<void> {
  return async ({ execution, node, attempt }) =>
    log.warn({ execution, node, attempt }, 'a job names a node that is not in the books, and is dropped')
}
