import { randomBytes } from 'node:crypto'
import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { mintId } from '@gateway/contracts/ids'
import { registerInstance } from '@gateway/ledger-client/instance'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openQueueDepth } from '@gateway/node-queue/queue-depth'
import { openNotifier } from '@gateway/notifier/notifier'
import type { CommonConfig } from '@gateway/process/common-config'
import type { HealthCheck } from '@gateway/process/health'
import type { ServiceTools } from '@gateway/process/run-service'
import { openProviders } from '@gateway/providers/open-providers'
import type { ProvidersConfig } from '@gateway/providers/provider-config'
import { usageCounter } from '@gateway/tokens/counted-usage'
import { exactCounter } from '@gateway/tokens/exact-count'
import { openTokenCounter } from '@gateway/tokens/token-counter'
import { workerApp } from './app.ts'
import type { WorkerConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { openMetrics } from './metrics.ts'
import { openQueue } from './queue/open-queue.ts'
import { isNotHung, isPolled, neverEvicts } from './queue/queue-health.ts'
import { watchQueue } from './queue/watch-queue.ts'

const now = () => performance.now()
const newId = <P extends string>(prefix: P) => mintId(prefix, Date.now(), randomBytes(10))

/** A worker sends heartbeats often and is dead soon: its leases are taken back within seconds (architecture.md, money core 7). */
const HEARTBEATS = { heartbeatMs: 1_000, deadAfterMs: 3_000 }
const LEDGER_SILENT = `has answered no heartbeat for ${HEARTBEATS.deadAfterMs / 1_000} seconds`
/** What the queue takes at most to close, after the jobs under way have had their time. */
const CLOSE_MS = 3_000

/**
 * Builds the worker: health, so that it can be asked while it waits for the ledger; the ledger, which learns of this process; what
 * nodes need; and at last the queue. A stop therefore begins with taking no more jobs.
 */
export async function startWorker(
  config: WorkerConfig & CommonConfig,
  providersConfig: ProvidersConfig,
  tools: ServiceTools,
) {
  const { log, onStop, stopping, readiness } = tools
  const { REDIS_URL: redisUrl, CONCURRENCY: concurrency, DRAIN_MS } = config
  const metrics = openMetrics(tools.meter)
  let alive: HealthCheck = () => null
  await tools.listen(workerApp({ readiness, alive: () => alive(), metricsText: tools.metricsText, log }))

  const ledger = openLedgerClient({
    url: config.LEDGER_URL,
    service: 'worker',
    secret: config.SERVICE_SECRET,
    tracer: tools.spans && tools.tracer,
  })
  onStop('ledger client', () => ledger.close())

  const instance = await registerInstance({
    ledger,
    service: 'worker',
    ...HEARTBEATS,
    newId: () => newId('ins'),
    stopping,
    log,
    now,
  })
  onStop('instance', () => instance.stop())

  readiness.check('ledger', () => (instance.silent() ? LEDGER_SILENT : null))

  const notifier = openNotifier({
    redisUrl,
    onTrouble: (error) => log.warn({ err: error }, 'no notification comes; failing executions are found by asking'),
  })
  onStop('notifier', () => notifier.close())

  const providers = openProviders(providersConfig, {
    circuitChanged: (change) => log.warn(change, 'the circuit breaker of a provider changed'),
    attemptFailed(failure) {
      metrics.attemptFailed(failure)
      log.warn({ err: failure }, 'a provider failed an attempt')
    },
  })
  onStop('providers', () => providers.close())

  const tokens = openTokenCounter({ log })
  onStop('token counter', () => tokens.close())

  const assets = await openAssetStore(assetStoreOf(config))
  onStop('assets', () => assets.close())

  const depth = openQueueDepth({ redisUrl, now: () => Date.now() })
  onStop('queue depth', () => depth.close())
  watchQueue(tools.meter, depth)

  const deps: Deps = {
    ledger,
    instance,
    notifier,
    providers,
    assets,
    countUsage: usageCounter(tokens.count),
    countExactly: exactCounter({ countAtMost: tokens.countAtMost }),
    newId,
    newLease: () => randomBytes(16).toString('hex'),
    metrics,
    log,
    now,
    traceContent: config.TRACE_CONTENT,
  }
  const queue = openQueue(deps, { redisUrl, concurrency })
  onStop('queue', () => queue.stop(DRAIN_MS), { limitMs: DRAIN_MS + CLOSE_MS })

  const redisAnswers = neverEvicts(redisUrl)
  readiness.check('redis', redisAnswers)
  readiness.check('queue', isPolled(queue, now))
  alive = isNotHung(queue, redisAnswers, now)
}
