import { randomBytes, randomFillSync } from 'node:crypto'
import { openByteBudget } from '@gateway/service-kit/async/byte-budget'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { openContentRecorder } from '@gateway/capture/content-recorder'
import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { openIdGenerator } from '@gateway/api/ids'
import { MISSED_HEARTBEATS, registerInstance } from '@gateway/ledger-client/instance'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openProviderReporter } from '@gateway/ledger-client/provider-reporter'
import { openNotifier } from '@gateway/service-kit/notifier/notifier'
import type { ServiceTools } from '@gateway/service-kit/process/open-service'
import { openProviders } from '@gateway/providers/open-providers'
import { testRoute } from '@gateway/providers/test-route'
import { describeProviders, type ProvidersConfig } from '@gateway/providers/provider-config'
import { usageCounter } from '@gateway/tokens/counted-usage'
import { exactCounter } from '@gateway/tokens/exact-count'
import { openTokenCounter } from '@gateway/tokens/token-counter'
import { openCaptureNode } from './capture/capture-node.ts'
import type { WorkerConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { openMetrics } from './metrics.ts'
import { openFreeNodes } from './perform/free-nodes.ts'
import { openReadyNodes } from './run/ready-nodes.ts'

/** A node is a part of an execution that would fail with it, so it waits longer than a call. */
const CONNECTION_WAIT_MS = 120_000

const now = () => performance.now()
const newId = openIdGenerator(Date.now, randomFillSync)

/** Creates the dependencies and registers how each is stopped. Waits for a ledger that is not up yet. */
export async function openDeps(
  config: WorkerConfig,
  providersConfig: ProvidersConfig,
  { log, meter, traced, onStop, stopping, readiness }: ServiceTools,
): Promise<Deps> {
  const metrics = openMetrics(meter)

  const ledger = openLedgerClient({
    url: config.LEDGER_URL,
    service: 'worker',
    privateKey: config.SERVICE_PRIVATE_KEY,
  })
  onStop('ledger client', () => ledger.close())

  const notifier = openNotifier({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) =>
      log.warn({ err: error }, 'notifications unavailable, failing executions are found by polling'),
  })
  onStop('notifier', () => notifier.close())

  const instance = await registerInstance({
    ledger,
    notifier,
    service: 'worker',
    heartbeatMs: config.HEARTBEAT_MS,
    newId: () => newId('ins'),
    stopping,
    log,
    now,
  })
  onStop('instance', () => instance.stop())
  const ledgerSilent = `has answered no heartbeat for ${(MISSED_HEARTBEATS * config.HEARTBEAT_MS) / 1_000} seconds`
  readiness.check('ledger', () => (instance.silent() ? ledgerSilent : null))

  const providerReporter = openProviderReporter({
    ledger,
    service: 'worker',
    sender: newId('wrk'),
    providers: describeProviders(providersConfig),
    circuits: () => providers.circuits(),
    test: (route) => testRoute(providers, route),
    log,
    now: Date.now,
  })
  onStop('provider reports', () => providerReporter.stop())

  const providers = openProviders(providersConfig, {
    observe: providerReporter.observe,
    connections: 2 * config.CONCURRENCY, // half of them is the share of one project, which may run all nodes
    waitMs: CONNECTION_WAIT_MS,
    noConnection: metrics.noConnection,
    attemptFailed(failure, reference) {
      metrics.attemptFailed(failure)
      log.warn({ ...reference, err: failure }, 'provider attempt failed')
    },
    circuitChanged(change) {
      metrics.circuitChanged(change)
      providerReporter.circuitChanged()
      log.warn(change, 'provider circuit changed')
    },
  })
  onStop('providers', () => providers.close())
  metrics.watchConnections(providers.connections)
  metrics.watchCircuits(providers.circuits)

  const tokens = openTokenCounter({
    log,
    threads: config.COUNTING_THREADS,
    maxWaiting: config.MAX_CONCURRENT_PROMPT_CHARACTERS,
  })
  onStop('token counter', () => tokens.close())

  const freeNodes = openFreeNodes({ onTrouble: (reason) => log.error({ err: reason }, 'thread of free nodes failed') })
  onStop('free nodes', () => freeNodes.close())

  const ofStore = assetStoreOf(config)
  const limits = { ...ofStore.limits, transitWaitMs: flowLimits.executionMs } // the execution times out first
  const assets = await openAssetStore({ ...ofStore, limits }, metrics.assets)
  onStop('assets', () => assets.close())

  const contentRecorder = openContentRecorder({
    ledger,
    onDropped: metrics.contentDropped,
    onTrouble: (error) => log.warn({ err: error }, 'capture of content failed'),
  })
  onStop('captured content', () => contentRecorder.stop())

  return {
    ledger,
    instance,
    notifier,
    providers,
    assets,
    imageMemory: openByteBudget({
      maxBytes: config.MAX_CONCURRENT_IMAGE_BYTES,
      waitMs: flowLimits.executionMs, // the execution times out first
      whenFull: () => refuse('overloaded', {}),
    }),
    freeNodes,
    readyNodes: openReadyNodes(now),
    countUsage: usageCounter(tokens.count, metrics.usageReplaced),
    countExactly: exactCounter({ countAtMost: tokens.countAtMost }, { waits: true }),
    newId,
    newLease: () => randomBytes(16).toString('hex'),
    metrics,
    log,
    now,
    captureNode: openCaptureNode(ledger, contentRecorder),
    traceContent: config.TRACE_CONTENT && traced,
  }
}
