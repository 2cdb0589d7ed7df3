import { randomFillSync } from 'node:crypto'
import { openIdGenerator } from '@gateway/api/ids'
import { openRequestVerifier, type RequestVerifier } from '@gateway/ledger-client/service-token'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { openNotifier } from '@gateway/service-kit/notifier/notifier'
import type { ServiceTools, Readiness } from '@gateway/service-kit/process/open-service'
import { openAdmissionBatcher } from './admissions/admission-batcher.ts'
import { openReceipts } from './admissions/receipts.ts'
import { publicKeysOf, type LedgerConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { openPackageCache } from './executions/cache/load-executions.ts'
import { openNodeBatcher } from './executions/nodes/node-batcher.ts'
import { openFollowers } from './executions/records/read-execution.ts'
import { openKeptBytes } from './executions/kept-bytes.ts'
import { openKeyUses } from './keys/read-caller.ts'
import { maintenanceJobs, repeatJob } from './maintenance/maintenance-jobs.ts'
import { openReruns } from './executions/rerun/reruns.ts'
import { openStartBatcher } from './executions/start/start-batcher.ts'
import { batchesAreNotHung, batchesAreTaken, booksDecide } from './health.ts'
import { openMetrics } from './metrics.ts'
import { openQuarantine } from './quarantine/quarantine.ts'
import { openChannels, itemsChannels, openItemDecider } from './receive/channels.ts'
import { openOperations, operationsChannels, type CarryOut, mountOperations } from './receive/operations.ts'
import { webhookSettingsOf } from './webhooks/webhook-settings.ts'
import { openWebhookAttempts } from './webhooks/webhook-attempts.ts'
import { observeState } from './state-metrics.ts'
import type { Express } from 'express'
import { answerErrors, internalAnswers } from '@gateway/service-kit/http/answers'
import { notFound, openApp } from '@gateway/service-kit/http/routes'
import { mountHealth } from '@gateway/service-kit/http/preamble'
import { openDatabase, type Database } from '@gateway/database/client'

const BATCH_BYTES = 1024 * 1024
const NODE_BATCH_ITEMS = 128
const WAITING_STARTS = 2_000
const PACKAGES_BYTES = 64 * 1024 * 1024
const DRAIN = { limitMs: 5_000 }

/** Builds the ledger: connections, batchers, queue and notifier, then maintenance, and finally the HTTP server. */
export async function startLedger(config: LedgerConfig, tools: ServiceTools) {
  const deps = await openDeps(config, tools)
  for (const job of maintenanceJobs(deps, config)) tools.onStop(job.name, repeatJob(deps, job))
  tools.readiness.check('postgres', booksDecide(deps))
  tools.readiness.check('batches', batchesAreTaken(deps))
  tools.readiness.checkLive('batches', batchesAreNotHung(deps))
  const verify = openRequestVerifier({ publicKeys: publicKeysOf(config), now: () => Date.now(), log: tools.log })
  const operations = openOperations(deps)
  const kinds = [itemsChannels(openItemDecider(deps)), operationsChannels(operations)]
  const channels = openChannels(kinds, verify)
  const http = await tools.listen(ledgerApp({ operations, verify, readiness: tools.readiness, log: tools.log }))
  http.server.on('upgrade', channels.accept)
  tools.onStop('channels', () => channels.stop(DRAIN.limitMs), { limitMs: DRAIN.limitMs + 1_000 })
  return http
}

async function openDeps(config: LedgerConfig, tools: ServiceTools): Promise<Deps> {
  const { log, onStop } = tools
  const now = () => performance.now()

  const pools = await openPools(config, tools)
  const { reads } = pools
  const notifier = openNotifier({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) => log.warn({ err: error }, 'redis unavailable, followers fall back to polling'),
  })
  onStop('notifier', () => notifier.close())
  const nodeQueue = openNodeQueue({ redisUrl: config.REDIS_URL })
  onStop('node queue', () => nodeQueue.close())
  const keptBytes = openKeptBytes({ reads: pools.maintenance })
  onStop('kept bytes', () => keptBytes.write())
  const keyUses = openKeyUses({ reads: pools.maintenance })
  onStop('key uses', () => keyUses.write())

  const newId = openIdGenerator(Date.now, randomFillSync)
  const shared = {
    ...pools,
    followers: openFollowers(config.READ_CONNECTIONS),
    notifier,
    nodeQueue,
    keyUses,
    keptBytes,
    webhookSettings: webhookSettingsOf(config),
    quotas: config.QUOTAS,
    webhookAttempts: openWebhookAttempts(),
    packageCache: openPackageCache({ reads }, { maxBytes: PACKAGES_BYTES }),
    receipts: await openReceipts(reads),
    quarantine: openQuarantine({ now }),
    metrics: openMetrics(tools.meter, log),
    log,
    now,
    newId,
    replicaId: newId('ldg'),
  }
  const { BATCHES_IN_FLIGHT: batchesInFlight, BATCH_ITEMS: batchItems, WAITING_ADMISSIONS: waitingAdmissions } = config
  const { MAX_CONCURRENT_NODES: maxConcurrentNodes, OPEN_EXECUTIONS: openExecutions } = config
  const admissionLimits = { batchesInFlight, batchItems, batchBytes: BATCH_BYTES, waitingAdmissions }
  const admissionBatcher = openAdmissionBatcher(shared, admissionLimits)
  onStop('admission batcher', admissionBatcher.drain, DRAIN)
  const nodeBatcher = openNodeBatcher(shared, { batchItems: NODE_BATCH_ITEMS, maxConcurrentNodes })
  onStop('node batcher', nodeBatcher.drain, DRAIN)
  const startBatcher = openStartBatcher(
    { ...shared, nodeBatcher },
    {
      maxConcurrentNodes,
      openExecutions,
      waitingStarts: WAITING_STARTS,
      chatFirstClaimMs: config.CHAT_FIRST_CLAIM_SECONDS * 1_000,
    },
  )
  onStop('start batcher', startBatcher.drain, DRAIN)
  const reruns = openReruns(shared, { maxConcurrentNodes, openExecutions })
  observeState(tools.meter, { admissionBatcher, nodeBatcher, reads }, config)
  return { ...shared, admissionBatcher, nodeBatcher, startBatcher, reruns }
}

interface AppDeps extends Pick<Deps, 'log'> {
  operations: CarryOut
  verify: RequestVerifier
  readiness: Readiness
}

/** The ledger's HTTP API, internal only: operations that come as requests. Items and the others have channels. */
export function ledgerApp({ operations, verify, readiness, log }: AppDeps): Express {
  const app = openApp()
  mountOperations(app, operations, verify)
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'ledger', failure: 'The books cannot be reached now.', log })))
  return app
}

// The connections of one replica, in pools that do not wait for each other.
//   P1  A heartbeat waits for no crowd of requests, no locked wallet and no long statement: otherwise a ledger that is
//       only busy would declare living processes dead.
//   P2  Each pool has a time limit for its queries, at which Postgres is asked to cancel them. A connection that is
//       silent for a second more is given up, and the outcome is unknown; the caller repeats the request. Where a query
//       may wait for a lock the limit is longer than `lock_timeout`, and in maintenance longer than
//       `statement_timeout`, so that Postgres answers first.
//   P3  Silence on one pool means silence on all: their idle connections are replaced at once.

type Pools = Pick<Deps, 'admissions' | 'executions' | 'reads' | 'heartbeats' | 'locking' | 'maintenance'>

/** With the extra second, as long as callers of a request wait for its answer. */
const QUESTION_MS = 4_000
const HEARTBEAT_MS = 2_000
const LOCKING_MS = 7_000
const MAINTENANCE_MS = 20_000

/** Opens every pool, and registers how to close it. */
async function openPools(
  config: Pick<LedgerConfig, 'DATABASE_URL' | 'PREPARED_STATEMENTS' | 'BATCHES_IN_FLIGHT' | 'READ_CONNECTIONS'>,
  { log, onStop }: Pick<ServiceTools, 'log' | 'onStop'>,
): Promise<Pools> {
  const opened: Database[] = []

  async function open(name: keyof Pools, poolSize: number, queryLimitMs: number): Promise<Database> {
    const database = await openDatabase({
      url: config.DATABASE_URL,
      poolSize,
      queryLimitMs,
      role: `ledger-${name}`,
      preparedStatements: config.PREPARED_STATEMENTS,
      onConnectionLost: (error) => log.warn({ err: error, pool: name }, 'database connection lost'),
      onSilence: () => opened.forEach((each) => each.renewIdle()), // P3
    })
    opened.push(database)
    onStop(`database ${name}`, () => database.close())
    return database
  }

  return {
    admissions: await open('admissions', config.BATCHES_IN_FLIGHT, QUESTION_MS),
    executions: await open('executions', 2, QUESTION_MS), // one for the node batcher, one for the start batcher
    reads: await open('reads', config.READ_CONNECTIONS, QUESTION_MS),
    heartbeats: await open('heartbeats', 3, HEARTBEAT_MS), // heartbeats, and two jobs that find missing ones
    locking: await open('locking', 3, LOCKING_MS),
    maintenance: await open('maintenance', 3, MAINTENANCE_MS),
  }
}
