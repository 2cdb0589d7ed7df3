import { randomFillSync } from 'node:crypto'
import { openIdGenerator } from '@gateway/contracts/ids'
import { openDatabase } from '@gateway/database/client'
import { openTokenVerifier } from '@gateway/ledger-client/service-token'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { openNotifier } from '@gateway/notifier/notifier'
import type { ServiceTools } from '@gateway/process/run-service'
import { openAdmissionBatcher } from './admissions/admission-batcher.ts'
import { ledgerApp } from './app.ts'
import type { LedgerConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { openPackageCache } from './executions/cache/package-cache.ts'
import { openNodeBatcher } from './executions/nodes/node-batcher.ts'
import { openStartBatcher } from './executions/start/start-batcher.ts'
import { openKeyUses } from './keys/key-uses.ts'
import { repeatJob } from './maintenance/maintenance-job.ts'
import { maintenanceJobs } from './maintenance/maintenance-jobs.ts'
import { cleanRetention } from './maintenance/retention-cleaner.ts'
import { openMetrics } from './metrics.ts'
import { openSetAside } from './set-aside/set-aside.ts'
import { observeState } from './state-metrics.ts'

/** One for the node batcher, one for the start batcher. */
const EXECUTION_CONNECTIONS = 2
const BATCH_BYTES = 1024 * 1024
const NODE_BATCH_ITEMS = 128
const WAITING_STARTS = 2_000
const PACKAGES_BYTES = 64 * 1024 * 1024
const DRAIN = { limitMs: 5_000 }

/** Builds the ledger: connections, batchers, queue and notifier, then maintenance, and at last the HTTP server. */
export async function startLedger(config: LedgerConfig, tools: ServiceTools) {
  const deps = await openDeps(config, tools)
  const { reads } = deps
  await cleanRetention(deps) // makes the partitions of today, before anything is saved
  for (const job of maintenanceJobs(deps, config)) tools.onStop(job.name, repeatJob(deps, job))
  tools.readiness.check('postgres', async () => ((await reads.prisma.$queryRaw`SELECT 1`) ? null : 'no answer'))
  const secrets = {
    gateway: config.SERVICE_SECRET_GATEWAY,
    worker: config.SERVICE_SECRET_WORKER,
    console: config.SERVICE_SECRET_CONSOLE,
  }
  const verify = openTokenVerifier({ secrets, now: () => Date.now() })
  const { readiness, metricsText } = tools
  return tools.listen(ledgerApp({ ...deps, verify, readiness, metricsText }))
}

async function openDeps(config: LedgerConfig, tools: ServiceTools): Promise<Deps> {
  const { log, onStop } = tools
  const now = () => performance.now()

  async function open(name: string, poolSize: number) {
    const database = await openDatabase({
      url: config.DATABASE_URL,
      poolSize,
      role: `ledger-${name}`,
      preparedStatements: config.PREPARED_STATEMENTS,
      onConnectionLost: (error) => log.warn({ err: error, pool: name }, 'a database connection was lost'),
    })
    onStop(`database ${name}`, () => database.close())
    return database
  }

  const admissions = await open('admissions', config.BATCHES_IN_FLIGHT)
  const executions = await open('executions', EXECUTION_CONNECTIONS)
  const reads = await open('reads', config.READ_CONNECTIONS)
  const notifier = openNotifier({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) => log.warn({ err: error }, 'Redis is away; who follows an execution looks by themselves'),
  })
  onStop('notifier', () => notifier.close())
  const nodeQueue = openNodeQueue({ redisUrl: config.REDIS_URL })
  onStop('node queue', () => nodeQueue.close())
  const keyUses = openKeyUses({ reads })
  onStop('key uses', () => keyUses.write())

  const shared = {
    admissions,
    executions,
    reads,
    notifier,
    nodeQueue,
    keyUses,
    packageCache: openPackageCache({ reads }, { maxBytes: PACKAGES_BYTES }),
    setAside: openSetAside({ now }),
    metrics: openMetrics(tools.meter, log, now),
    log,
    now,
    newId: openIdGenerator(Date.now, randomFillSync),
  }
  const { BATCHES_IN_FLIGHT: batchesInFlight, BATCH_ITEMS: batchItems, WAITING_ADMISSIONS: waitingAdmissions } = config
  const { NODES_AT_ONCE: nodesAtOnce, OPEN_EXECUTIONS: openExecutions } = config
  const admissionLimits = { batchesInFlight, batchItems, batchBytes: BATCH_BYTES, waitingAdmissions }
  const admissionBatcher = openAdmissionBatcher(shared, admissionLimits)
  onStop('admission batcher', admissionBatcher.drain, DRAIN)
  const nodeBatcher = openNodeBatcher(shared, { batchItems: NODE_BATCH_ITEMS, nodesAtOnce })
  onStop('node batcher', nodeBatcher.drain, DRAIN)
  const startBatcher = openStartBatcher(shared, { nodesAtOnce, openExecutions, waitingStarts: WAITING_STARTS })
  onStop('start batcher', startBatcher.drain, DRAIN)
  observeState(tools.meter, { admissionBatcher, nodeBatcher, reads })
  return { ...shared, admissionBatcher, nodeBatcher, startBatcher }
}
