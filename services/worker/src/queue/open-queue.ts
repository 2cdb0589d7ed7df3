import { openNodeWorker, type NodeWorker } from '@gateway/node-queue/node-worker'
import type { Deps } from '../deps.ts'
import { LedgerSilent } from '../run/claim-node.ts'
import { runNode } from '../run/run-node.ts'

interface Options {
  redisUrl: string
  /** Nodes at once. */
  concurrency: number
  /** For how long a job goes on with other nodes of its execution though others may wait. Milliseconds; 0: it never does. */
  sliceMs: number
}

/** Opens the queue: from now on its jobs are taken and run. While the ledger is silent no job is taken. */
export function openQueue(deps: Deps, { redisUrl, concurrency, sliceMs }: Options): NodeWorker {
  const { metrics, log, instance, now } = deps
  const queue = openNodeWorker({
    redisUrl,
    concurrency,
    sliceMs,
    run: (job, signal, mayGoOn) => runNode(deps, job, signal, mayGoOn),
    onRan: () => metrics.jobEnded('ran'),
    onLost({ execution, node, attempt }) {
      metrics.jobEnded('lost')
      log.warn({ execution, node, attempt }, 'the lock of a job was lost; its node goes on under its lease')
    },
    onFailed({ execution, node, attempt }, error) {
      metrics.jobEnded('failed')
      if (error instanceof LedgerSilent) return // logged once for all jobs, below
      log.error({ err: error, execution, node, attempt }, 'a job failed')
    },
    onTrouble: (error) => log.warn({ err: error }, 'the queue is in trouble'),
    now,
  })
  metrics.watch(queue)
  instance.onSilence((silent) => {
    log.warn({ silent }, silent ? 'the ledger is silent: no job is taken' : 'the ledger is heard again')
    if (silent) queue.pause()
    else queue.resume()
  })
  return queue
}
