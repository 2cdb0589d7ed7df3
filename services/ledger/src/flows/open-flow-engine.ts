import { randomBytes } from 'node:crypto'
import { mintId } from '@gateway/contracts/ids'
import type { Database } from '@gateway/database/client'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import type { Logger } from '@gateway/process/logger'
import type { ServiceTools } from '@gateway/process/run-service'
import { openNotifier } from '@gateway/notifier/notifier'
import type { LedgerConfig } from '../config.ts'
import { endOverdue } from '../maintenance/deadline-enforcer.ts'
import { reclaimNodes } from '../maintenance/node-rescuer.ts'
import { requeueLostJobs } from '../maintenance/job-requeuer.ts'
import type { Metrics } from '../metrics.ts'
import { openNodeBatcher } from './node-batcher.ts'
import { openFlows } from './flows.ts'
import { openExecutionStarter } from './start/start-runs.ts'
import { telling } from './tell.ts'

interface Deps {
  /** Two connections: of the batcher, and of the start of runs. */
  executions: Database
  reads: Database
  config: Pick<LedgerConfig, 'REDIS_URL' | 'NODES_AT_ONCE' | 'OPEN_EXECUTIONS'>
  noteUse: (key: string) => void
  metrics: Metrics
  /** null: nothing is traced. */
  /** Told what a completed node was charged, in micro-USD; null: nobody asks. */
  onCharged: ((item: object, micro: number) => void) | null
  log: Logger
  onStop: ServiceTools['onStop']
  /** Monotonic milliseconds. */
  now: () => number
}

const BATCH_ITEMS = 128
const WAITING_STARTS = 2_000
const PACKAGES_BYTES = 64 * 1024 * 1024
const DRAIN_MS = 5_000

/** What runs flows: the batcher of items about nodes, the start of runs, the queue and the notifier that they tell, and what maintenance jobs ask. */
export function openFlowEngine(deps: Deps) {
  const { executions, reads, config, noteUse, metrics, onCharged, log, onStop, now } = deps
  const { REDIS_URL: redisUrl, NODES_AT_ONCE: nodesAtOnce, OPEN_EXECUTIONS: mostOpen } = config
  const notifier = openNotifier({
    redisUrl,
    onTrouble: (error) => log.warn({ err: error }, 'Redis is away; who follows a run looks by itself'),
  })
  onStop('notifier', () => notifier.close())
  const queue = openNodeQueue({ redisUrl })
  onStop('queue', () => queue.close())
  const tellBy = (enqueue: typeof queue.enqueue) =>
    telling({ notify: notifier.notify, enqueue, onQueueAway: metrics.queueAway })
  const tell = tellBy(queue.enqueue)
  // A maintenance job rings every few seconds for what waits. That is no new step of the run: the job goes in the trace that is kept with it.
  const tellAgain = tellBy(queue.enqueue)

  const shared = { database: executions, flows: openFlows(reads, { mostBytes: PACKAGES_BYTES }), tell, nodesAtOnce }
  const lane = openNodeBatcher({
    ...shared,
    batchItems: BATCH_ITEMS,
    mintCall: () => mintId('inv', Date.now(), randomBytes(10)),
    now,
    observe: metrics,
    onCharged,
  })
  onStop('node batcher', () => lane.drain(), { limitMs: DRAIN_MS })
  const starter = openExecutionStarter({ ...shared, mostOpen, mostWaiting: WAITING_STARTS, noteUse })
  onStop('starts of runs', () => starter.drain(), { limitMs: DRAIN_MS })
  metrics.watchFlows(lane.waiting)
  metrics.watchExecutions(reads)

  return {
    lane,
    start: starter.start,
    reclaim: reclaimNodes({ database: reads, lane, metrics }),
    endOverdue: endOverdue({ database: reads, lane, tell }),
    requeueLostJobs: requeueLostJobs({ database: reads, tell: tellAgain, nodesAtOnce }),
  }
}
