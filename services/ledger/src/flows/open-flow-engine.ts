import { randomBytes } from 'node:crypto'
import { mintId } from '@gateway/contracts/ids'
import type { Database } from '@gateway/database/client'
import type { Tracer } from '@opentelemetry/api'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { tracedEnqueue } from '@gateway/node-queue/trace-jobs'
import type { Logger } from '@gateway/process/logger'
import type { ServiceTools } from '@gateway/process/run-service'
import { openBell } from '@gateway/progress/bell'
import type { LedgerConfig } from '../config.ts'
import { endOverdue } from '../keepers/end-overdue.ts'
import { reclaimNodes } from '../keepers/reclaim-nodes.ts'
import { ringAgain } from '../keepers/ring-again.ts'
import type { Measures } from '../measures.ts'
import { openFlowLane } from './flow-lane.ts'
import { openFlows } from './flows.ts'
import { openRunStarter } from './start/start-runs.ts'
import { telling } from './tell.ts'

interface Needs {
  /** Two connections: of the lane, and of the start of runs. */
  runs: Database
  reads: Database
  config: Pick<LedgerConfig, 'REDIS_URL' | 'NODES_AT_ONCE' | 'OPEN_RUNS'>
  noteUse: (key: string) => void
  measures: Measures
  /** null: nothing is traced. */
  tracer: Tracer | null
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

/** What runs flows: the lane of items about nodes, the start of runs, the queue and the bell that they tell, and what keepers ask. */
export function openFlowEngine(needs: Needs) {
  const { runs, reads, config, noteUse, measures, tracer, onCharged, log, onStop, now } = needs
  const { REDIS_URL: redisUrl, NODES_AT_ONCE: nodesAtOnce, OPEN_RUNS: mostOpen } = config
  const bell = openBell({
    redisUrl,
    onTrouble: (error) => log.warn({ err: error }, 'Redis is away; who follows a run looks by itself'),
  })
  onStop('bell', () => bell.close())
  const queue = openNodeQueue({ redisUrl })
  onStop('queue', () => queue.close())
  const tellBy = (enqueue: typeof queue.enqueue) =>
    telling({ ring: bell.ring, enqueue, onQueueAway: measures.queueAway })
  const tell = tellBy(tracedEnqueue(tracer, queue.enqueue))
  // A keeper rings every few seconds for what waits. That is no new step of the run: the job goes in the trace that is kept with it.
  const tellAgain = tellBy(queue.enqueue)

  const shared = { database: runs, flows: openFlows(reads, { mostBytes: PACKAGES_BYTES }), tell, nodesAtOnce }
  const lane = openFlowLane({
    ...shared,
    batchItems: BATCH_ITEMS,
    mintCall: () => mintId('inv', Date.now(), randomBytes(10)),
    now,
    observe: measures,
    onCharged,
  })
  onStop('flow lane', () => lane.drain(), { limitMs: DRAIN_MS })
  const starter = openRunStarter({ ...shared, mostOpen, mostWaiting: WAITING_STARTS, noteUse })
  onStop('starts of runs', () => starter.drain(), { limitMs: DRAIN_MS })
  measures.watchFlows(lane.waiting)
  measures.watchRuns(reads)

  return {
    lane,
    start: starter.start,
    reclaim: reclaimNodes({ database: reads, lane, measures }),
    endOverdue: endOverdue({ database: reads, lane, tell }),
    ringAgain: ringAgain({ database: reads, tell: tellAgain, nodesAtOnce }),
  }
}
