import { randomFillSync } from 'node:crypto'
import { openIdGenerator } from '@gateway/api/ids'
import { openRequestVerifier } from '@gateway/ledger-client/service-token'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { openNotifier } from '@gateway/service-kit/notifier/notifier'
import type { ServiceTools } from '@gateway/service-kit/process/open-service'
import { openAdmissionBatcher } from './admissions/admission-batcher.ts'
import { openReceipts } from './admissions/receipts.ts'
import { ledgerApp } from './app.ts'
import { publicKeysOf, type LedgerConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { openPackageCache } from './executions/cache/package-cache.ts'
import { openNodeBatcher } from './executions/nodes/node-batcher.ts'
import { openFollowers } from './executions/records/read-execution.ts'
import { openKeptBytes } from './executions/kept-bytes.ts'
import { openKeyUses } from './keys/read-caller.ts'
import { maintenanceJobs, repeatJob } from './maintenance/maintenance-jobs.ts'
import { openReruns } from './executions/rerun/reruns.ts'
import { openStartBatcher } from './executions/start/start-batcher.ts'
import { batchesAreNotHung, batchesAreTaken, booksDecide } from './health.ts'
import { openMetrics } from './metrics.ts'
import { openPools } from './pools.ts'
import { openQuarantine } from './quarantine/quarantine.ts'
import { openChannels } from './receive/channels.ts'
import { itemsChannels, openItemDecider } from './receive/decide-items.ts'
import { openOperations, operationsChannels } from './receive/operations.ts'
import { webhookSettingsOf } from './webhooks/webhook-settings.ts'
import { openWebhookAttempts } from './webhooks/webhook-attempts.ts'
import { observeState } from './state-metrics.ts'

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
    metrics: openMetrics(tools.meter, log, now),
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
