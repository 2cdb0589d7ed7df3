import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { registerInstance } from '@gateway/ledger-client/instance'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openProviders } from '@gateway/providers/open-providers'
import type { ProvidersConfig } from '@gateway/providers/provider-config'
import type { CommonConfig } from '@gateway/process/common-config'
import type { ServiceTools } from '@gateway/process/run-service'
import { activeCarrier } from '@gateway/process/spans'
import { openNotifier } from '@gateway/notifier/notifier'
import { callAdmitter } from './admit/admit-call.ts'
import { exactCounter } from '@gateway/tokens/exact-count'
import { runningJoiner } from './admit/join-running.ts'
import { openConcurrencyLimiter } from './admit/concurrency-limiter.ts'
import { openRates } from './admit/rates.ts'
import { openAdmissionQueueLimit } from './admit/admission-queue-limit.ts'
import { jsonAnswer } from './answer/answer-json.ts'
import { streamAnswer } from './answer/answer-stream.ts'
import { gatewayApp } from './app.ts'
import { assetSender } from './assets/send-asset.ts'
import { providerCaller } from './call/call-provider.ts'
import { usageCounter } from '@gateway/tokens/counted-usage'
import { callInstance } from './call/reservation.ts'
import { openCallsOf } from './call/open-calls.ts'
import { openTokenCounter } from '@gateway/tokens/token-counter'
import { chatCompletions } from './chat-completions.ts'
import type { GatewayConfig } from './config.ts'
import { openConsoleForwarder } from './forward/forward-to-console.ts'
import { ledgerAnswers } from './health/ledger-answers.ts'
import { invokeSandbox } from './invoke-sandbox.ts'
import { openMetrics } from './metrics.ts'
import { openMcp } from './mcp/open-mcp.ts'
import { openMint } from './mint.ts'
import { askedInPlace } from './receive/in-place.ts'
import { answerFailure } from './refuse/answer-failure.ts'
import { answerMalformed } from './refuse/answer-malformed.ts'
import { failureExplainer } from './refuse/explain-failure.ts'
import { notFound } from './refuse/no-such-thing.ts'
import { executionAwaiter } from './run/await-run.ts'
import { imageSender } from './run/send-run.ts'
import { executionStarter } from './run/start-run.ts'
import { progressStreamer } from './run/stream-progress.ts'
import { sandboxModel } from './sandbox-model.ts'
import { tracedAdmission, tracedBy, tracedStart } from './trace.ts'
import { tracedProvider } from './trace-provider.ts'

const now = () => Date.now()

/** Running calls are ended this long before the connections are, so that their callers are told. */
const LAST_WORDS_MS = 1_000
/** Left to settlements once the last call has ended. */
const SETTLE_MS = 5_000

/** Builds the gateway: the ways to ledger, Redis and providers, the calls between them, and at last the door. */
export async function startGateway(
  config: GatewayConfig & CommonConfig,
  providers: ProvidersConfig,
  tools: ServiceTools,
) {
  const { log, onStop, stopping, readiness, spans } = tools
  const mint = openMint(now)

  const calls = openCallsOf({
    stopping,
    finishMs: Math.max(0, config.DRAIN_MS - LAST_WORDS_MS),
  })
  const places = openConcurrencyLimiter({ most: config.CALLS_AT_ONCE, mostOfOne: config.PROJECT_CALLS_AT_ONCE })
  const admissionQueueLimit = openAdmissionQueueLimit(config.ADMISSIONS_AT_ONCE)
  const metrics = openMetrics(tools.meter, calls.count)
  const explain = failureExplainer({ log, metrics })

  const notifier = openNotifier({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) =>
      log.warn({ err: error }, 'Redis can not be reached; who waits for a running call asks each second'),
  })
  onStop('notifier', () => notifier.close())

  const ledger = openLedgerClient({
    url: config.LEDGER_URL,
    service: 'gateway',
    secret: config.SERVICE_SECRET,
    tracer: spans && tools.tracer,
  })
  onStop('ledger client', () => ledger.close())
  readiness.check('ledger', ledgerAnswers(ledger))

  const instance = await registerInstance({ ledger, service: 'gateway', newId: () => mint('ins'), stopping, log })
  onStop('instance', () => instance.stop())

  const ways = openProviders(providers, {
    circuitChanged(change) {
      metrics.circuitChanged(change)
      log.warn(change, 'the circuit of a provider changed')
    },
    attemptFailed(failure) {
      metrics.attemptFailed(failure)
      log.warn({ err: failure }, 'a provider failed an attempt')
    },
  })
  onStop('providers', () => ways.close())

  const store = await openAssetStore(assetStoreOf(config))
  onStop('asset store', () => store.close())

  const tokens = openTokenCounter({ log })
  onStop('token counter', () => tokens.close())

  onStop('open calls', () => calls.idle(), { limitMs: config.DRAIN_MS + SETTLE_MS })
  const answers = {
    provider: tracedProvider(spans, providerCaller({ providers: ways, ending: calls.ending }), config.TRACE_CONTENT),
    countUsage: usageCounter(tokens.count),
    now,
  }

  const consoleService = config.CONSOLE_URL === undefined ? null : openConsoleForwarder(config.CONSOLE_URL)
  if (consoleService) onStop('console forwarder', () => consoleService.close())

  const hold = callInstance({ ledger, notifier, calls, metrics, log })
  const trace = tracedBy(spans)
  const { ending } = calls
  const rates = openRates(config.RATES)
  const carrier = () => spans && activeCarrier()
  const startExecution = tracedStart(
    spans && trace,
    executionStarter({ ledger, notifier, mint, admissionQueueLimit, rates, ending, carrier }),
  )
  const awaitExecution = executionAwaiter({ ledger, ending, now })
  const streamProgress = progressStreamer({ ledger, ending })
  const sendAsset = assetSender({ store })
  const executions = { places, calls, startExecution, awaitExecution, streamProgress, metrics, trace, now }
  const app = gatewayApp({
    completeChat: chatCompletions({
      places,
      admissionQueueLimit,
      calls,
      admit: tracedAdmission(
        spans && trace,
        callAdmitter({
          ledger,
          instance,
          mint,
          join: runningJoiner({ notifier, stopping, now }),
          countExactly: exactCounter({ countAtMost: tokens.countAtMost }),
          rates,
          hold,
          admissionQueueLimit,
        }),
      ),
      hold,
      answerJson: jsonAnswer(answers),
      answerStream: streamAnswer(answers),
      answerBySandbox: sandboxModel({ startExecution, awaitExecution, ledger, explain, now }),
      explain,
      metrics,
      trace,
      now,
    }),
    invoke: invokeSandbox({ ...executions, admissionQueueLimit, sendImage: imageSender({ ledger, sendAsset }) }),
    mcp: openMcp({ ...executions, ledger, store, explain, stopping, hosts: config.MCP_HOSTS, log }),
    assets: { places, ledger, store, mint, sendAsset },
    executions: { places, ledger },
    ledger: askedInPlace(places, ledger),
    toConsole: consoleService?.forward ?? notFound,
    readiness,
    metricsText: tools.metricsText,
    mint,
    log,
    now: () => performance.now(),
    answerFailure: answerFailure(explain),
  })
  const http = await tools.listen(app)
  answerMalformed(http.server, mint)
  return http
}
