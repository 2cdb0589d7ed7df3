import { randomFillSync } from 'node:crypto'
import { openByteBudget } from '@gateway/service-kit/async/byte-budget'
import { openConcurrencyLimiter } from '@gateway/service-kit/http/caller-permits'
import { openSharedLook } from '@gateway/service-kit/async/shared-look'
import { refuse } from '@gateway/api/refusal'
import { openContentRecorder } from '@gateway/capture/content-recorder'
import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { registerInstance } from '@gateway/ledger-client/instance'
import { openEstimator } from '@gateway/ledger-client/estimator'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openProviderReporter } from '@gateway/ledger-client/provider-reporter'
import { openNotifier } from '@gateway/service-kit/notifier/notifier'
import { isTrustedBy, isUpload } from '@gateway/service-kit/http/connections'
import type { CommonConfig } from '@gateway/service-kit/process/config'
import { openAdmissionQueueLimit, openFollowerLimiter, trackOpenCalls } from './admission/limits.ts'
import { ledgerHealth, openMetrics } from './metrics.ts'
import type { ServiceTools } from '@gateway/service-kit/process/open-service'
import { openProviders } from '@gateway/providers/open-providers'
import { testRoute } from '@gateway/providers/test-route'
import { describeProviders, type ProvidersConfig } from '@gateway/providers/provider-config'
import { usageCounter } from '@gateway/tokens/counted-usage'
import { exactCounter } from '@gateway/tokens/exact-count'
import { openTokenCounter } from '@gateway/tokens/token-counter'
import { openRateStore } from './rates/rate-store.ts'
import { openRates } from './rates/rates.ts'
import { openKeyGate } from './admission/key-gate.ts'
import { openRunningCalls } from './admission/running-calls.ts'
import { gatewayApp } from './app.ts'
import type { GatewayConfig } from './config.ts'
import { openConsoleProxy } from './console-proxy.ts'
import type { Deps } from './deps.ts'
import { openEndingWatch } from './executions/ending-watch.ts'
import { openIdGenerator } from '@gateway/api/ids'
import { openRefusalReporter } from './refusals/refusal-reporter.ts'
import type { IncomingMessage } from 'node:http'
import { chatLimits, flowLimits } from '@gateway/api/limits'

/** Permits of cancellations, which are short and rare. */
const CANCELLATION_PERMITS = 64
const CANCELLATIONS_OF_PROJECT = 8
/** Running calls are ended this long before their connections, so that callers get a response. */
const LAST_ANSWERS_MS = 1_000
/** Timeout of waiting for image memory. */
const IMAGE_WAIT_MS = 10_000
/** Shorter than the time after which a stream sends its headers: a call that gets no connection is refused with 503. */
const CONNECTION_WAIT_MS = 8_000
/** Time left for settlements after the last call has ended. */
const SETTLE_MS = 5_000

/**
 * Starts the gateway. Creates its singletons in order, each with an `onStop`; they stop in reverse. It listens last.
 */
export async function startGateway(
  config: GatewayConfig & CommonConfig,
  providersConfig: ProvidersConfig,
  { log, meter, traced, onStop, stopping, readiness, listen }: ServiceTools,
) {
  const now = () => Date.now()
  const newId = openIdGenerator(now, randomFillSync)
  const openCalls = trackOpenCalls({ stopping, finishMs: Math.max(0, config.DRAIN_MS - LAST_ANSWERS_MS) })
  const followerLimiter = openFollowerLimiter(
    config.MAX_CONCURRENT_CALLS,
    config.MAX_FOLLOWERS_PER_KEY,
    config.MAX_FOLLOWERS_PER_KEY_BY_PROJECT,
  )
  const consoleProxy = config.CONSOLE_URL === undefined ? null : openConsoleProxy(config.CONSOLE_URL, config)
  const memory = {
    maxBytes: config.MAX_CONCURRENT_IMAGE_BYTES,
    waitMs: IMAGE_WAIT_MS,
    whenFull: () => refuse('overloaded', {}),
  }
  const [imageMemory, embeddingMemory] = [openByteBudget(memory), openByteBudget(memory)]
  const metrics = openMetrics(meter, {
    calls: openCalls.count,
    imageBytes: imageMemory.taken,
    embeddingBytes: embeddingMemory.taken,
    followers: followerLimiter.count,
    consoleRequests: () => consoleProxy?.requests() ?? {},
  })

  const notifier = openNotifier({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) =>
      log.warn({ err: error }, 'redis unavailable, calls waiting for a running call poll every second'),
  })
  onStop('notifier', () => notifier.close())

  const ledger = openLedgerClient({
    url: config.LEDGER_URL,
    service: 'gateway',
    privateKey: config.SERVICE_PRIVATE_KEY,
  })
  onStop('ledger client', () => ledger.close())
  readiness.check('ledger', ledgerHealth({ ledger }))

  const refusals = openRefusalReporter({ ledger, metrics, sender: newId('gtw'), now: () => performance.now() })
  onStop('refusals', () => refusals.stop())

  const ofInstance = { ledger, notifier, service: 'gateway', newId: () => newId('ins'), stopping, log } as const
  const instance = await registerInstance({ ...ofInstance, heartbeatMs: config.HEARTBEAT_MS })
  onStop('instance', () => instance.stop())

  const providerReporter = openProviderReporter({
    ledger,
    service: 'gateway',
    sender: newId('gtw'),
    providers: describeProviders(providersConfig),
    circuits: () => providers.circuits(),
    test: (route) => testRoute(providers, route),
    log,
    now,
  })
  onStop('provider reports', () => providerReporter.stop())

  const providers = openProviders(providersConfig, {
    observe: providerReporter.observe,
    connections: config.MAX_CONCURRENT_CALLS,
    waitMs: CONNECTION_WAIT_MS,
    noConnection: metrics.noConnection,
    circuitChanged(change) {
      metrics.circuitChanged(change)
      providerReporter.circuitChanged()
      log.warn(change, 'provider circuit changed')
    },
    attemptFailed(failure, reference) {
      metrics.attemptFailed(failure)
      log.warn({ ...reference, err: failure }, 'provider attempt failed')
    },
  })
  onStop('providers', () => providers.close())
  metrics.watchConnections(providers.connections)
  metrics.watchCircuits(providers.circuits)

  const assetStore = await openAssetStore(assetStoreOf(config), metrics.assets, (error) =>
    log.warn({ err: error }, 'asset store failed'),
  )
  onStop('asset store', () => assetStore.close())

  const tokenCounter = openTokenCounter({
    log,
    threads: config.COUNTING_THREADS,
    maxWaiting: config.MAX_CONCURRENT_PROMPT_CHARACTERS,
  })
  onStop('token counter', () => tokenCounter.close())

  const contentRecorder = openContentRecorder({
    ledger,
    onDropped: metrics.contentDropped,
    onTrouble: (error) => log.warn({ err: error }, 'capture of content failed'),
  })
  onStop('captured content', () => contentRecorder.stop())

  onStop('open calls', () => openCalls.idle(), { limitMs: config.DRAIN_MS + SETTLE_MS })

  if (consoleProxy) onStop('console proxy', () => consoleProxy.close())

  const estimator = openEstimator({
    onTrouble: (error) => log.warn({ err: error }, 'estimate failed'),
  })
  onStop('estimator', () => estimator.close())

  const keyGate = openKeyGate({ ledger, metrics })
  const rateStore = await openRateStore({
    redisUrl: config.REDIS_URL,
    gateways: config.RATE_SHARES,
    onTrouble: (error) =>
      log.warn({ err: error }, 'redis unavailable, this gateway grants its share of each rate limit'),
  })
  onStop('rate limits', () => rateStore.close())

  const deps: Deps = {
    ledger,
    instance,
    notifier,
    endings: openEndingWatch({ ledger }),
    lookAtProgress: openSharedLook((question) => ledger.followExecution(question)),
    providers,
    assetStore,
    imageMemory,
    embeddingMemory,
    countUsage: usageCounter(tokenCounter.count, metrics.usageReplaced),
    countTokens: tokenCounter.count,
    countExactly: exactCounter(tokenCounter),
    estimator,
    consoleProxy,
    keyGate,
    concurrencyLimiter: openConcurrencyLimiter({
      maxPermits: config.MAX_CONCURRENT_CALLS,
      maxOfParty: config.MAX_CONCURRENT_CALLS_PER_PROJECT,
      whenFull: () => refuse('overloaded', {}),
    }),
    cancellationLimiter: openConcurrencyLimiter({
      maxPermits: CANCELLATION_PERMITS,
      maxOfParty: CANCELLATIONS_OF_PROJECT,
      whenFull: () => refuse('overloaded', {}),
    }),
    followerLimiter,
    admissionQueueLimit: openAdmissionQueueLimit(config.MAX_CONCURRENT_ADMISSIONS),
    rates: openRates({ config: config.RATES, keyGate, store: rateStore }),
    refusals,
    runningCalls: openRunningCalls({ notifier, stopping, now }),
    openCalls,
    newId,
    now,
    monotonicNow: () => performance.now(),
    log,
    metrics,
    readiness,
    contentRecorder,
    traceContent: config.TRACE_CONTENT && traced,
    mcpHosts: config.MCP_HOSTS,
  }
  const app = gatewayApp(deps, config.TRUSTED_PROXIES)
  return listen(app, {
    newRequestId: () => newId('req'),
    bodyLimitOf,
    isTrustedProxy: isTrustedBy(app),
    maxConnections: config.MAX_CONNECTIONS,
  })
}

/** Bytes that the body of a request to this path may have, known before it is routed (rules §2.6). */
export function bodyLimitOf({ url = '' }: Pick<IncomingMessage, 'url'>): number {
  if (isUpload({ url })) return flowLimits.assetBytes
  if (url.startsWith('/v1/sandbox/') || url.startsWith('/api/v2/')) return flowLimits.bodyBytes
  return CALLS.test(url) ? chatLimits.bodyBytes : chatLimits.textBodyBytes
}

/** Calls whose body can have images. */
const CALLS = /^\/v1\/(chat\/|responses|messages)/
