import { randomBytes } from 'node:crypto'
import { mintId } from '@gateway/contracts/ids'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openNodeWorker } from '@gateway/node-queue/node-worker'
import type { CommonConfig } from '@gateway/process/common-config'
import type { ServiceTools } from '@gateway/process/run-service'
import { workerApp } from './app.ts'
import type { WorkerConfig } from './config.ts'
import { dropUnknownNode } from './drop-unknown-node.ts'
import { openMeasures } from './measures.ts'
import { isPolled, neverEvicts } from './queue-health.ts'
import { registerHolder } from './register-holder.ts'

const now = () => performance.now()

/** What the queue takes at most to let go, after the runs have had their time. */
const LET_GO_MS = 3_000

/**
 * Builds the worker: health, so that it can be asked while it waits for the ledger; the way to the ledger and this process
 * on its books; and at last the queue, which is its door. A stop therefore begins with taking no more jobs.
 */
export async function startWorker(config: WorkerConfig & CommonConfig, tools: ServiceTools) {
  const { log, onStop, stopping, readiness } = tools
  await tools.listen(workerApp({ readiness, metricsText: tools.metricsText }))

  const ledger = openLedgerClient({ url: config.LEDGER_URL, service: 'worker', secret: config.SERVICE_SECRET })
  onStop('ledger client', () => ledger.close())

  const { holder, heard } = await registerHolder({
    ledger,
    mintId: () => mintId('hld', Date.now(), randomBytes(10)),
    stopping,
    log,
    now,
  })
  onStop('holder', () => holder.stop())
  readiness.check('ledger', heard)

  const measures = openMeasures(tools.meter)
  const runNode = dropUnknownNode({ log })
  const queue = openNodeWorker({
    redisUrl: config.REDIS_URL,
    concurrency: config.CONCURRENCY,
    async run(job) {
      await runNode(job)
      measures.ended('ran')
    },
    onLost({ execution, node, attempt }) {
      measures.ended('lost')
      log.warn({ execution, node, attempt }, 'the lock of a job was lost, and its run aborted')
    },
    onFailed({ execution, node, attempt }, error) {
      measures.ended('failed')
      log.error({ err: error, execution, node, attempt }, 'the run of a job failed')
    },
    onTrouble: (error) => log.warn({ err: error }, 'the queue is in trouble'),
    now,
  })
  onStop('queue', () => queue.stop(config.DRAIN_MS), { limitMs: config.DRAIN_MS + LET_GO_MS })
  measures.watch(queue)
  readiness.check('redis', neverEvicts(config.REDIS_URL))
  readiness.check('queue', isPolled(queue, now))
}
