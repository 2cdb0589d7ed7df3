import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { tracedLedger } from '@gateway/ledger-client/traced-ledger'
import { openOrigins } from '@gateway/origins/open-origins'
import type { OriginsConfig } from '@gateway/origins/origin-config'
import type { CommonConfig } from '@gateway/process/common-config'
import type { ServiceTools } from '@gateway/process/run-service'
import { carrierUnderWay } from '@gateway/process/spans'
import { openBell } from '@gateway/progress/bell'
import { callAdmitter } from './admit/admit-call.ts'
import { exactCounter } from '@gateway/paid-call/exact-count'
import { runningJoiner } from './admit/join-running.ts'
import { openPlaces } from './admit/places.ts'
import { openRates } from './admit/rates.ts'
import { registerHolder } from './admit/register-holder.ts'
import { openWaitingRoom } from './admit/waiting-room.ts'
import { jsonAnswer } from './answer/answer-json.ts'
import { streamAnswer } from './answer/answer-stream.ts'
import { gatewayApp } from './app.ts'
import { assetSender } from './assets/send-asset.ts'
import { originCaller } from './call/call-origin.ts'
import { usageCounter } from '@gateway/paid-call/counted-usage'
import { callHolder } from './call/hold.ts'
import { openCallsOf } from './call/open-calls.ts'
import { openTokenCounter } from '@gateway/paid-call/token-counter'
import { chatCompletions } from './chat-completions.ts'
import type { GatewayConfig } from './config.ts'
import { openConsoleForwarder } from './forward/forward-to-console.ts'
import { ledgerAnswers } from './health/ledger-answers.ts'
import { invokeSandbox } from './invoke-sandbox.ts'
import { openMeasures } from './measures.ts'
import { openMcp } from './mcp/open-mcp.ts'
import { openMint } from './mint.ts'
import { askedInPlace } from './receive/in-place.ts'
import { answerFailure } from './refuse/answer-failure.ts'
import { answerMalformed } from './refuse/answer-malformed.ts'
import { failureExplainer } from './refuse/explain-failure.ts'
import { notFound } from './refuse/no-such-thing.ts'
import { runAwaiter } from './run/await-run.ts'
import { imageSender } from './run/send-run.ts'
import { runStarter } from './run/start-run.ts'
import { progressStreamer } from './run/stream-progress.ts'
import { sandboxModel } from './sandbox-model.ts'
import { tracedAdmission, tracedBy, tracedStart } from './trace.ts'
import { tracedOrigin } from './trace-origin.ts'

const now = () => Date.now()

/** Running calls are ended this long before the connections are, so that their callers are told. */
const LAST_WORDS_MS = 1_000
/** Left to settlements once the last call has ended. */
const SETTLE_MS = 5_000

/** Builds the gateway: the ways to ledger, Redis and origins, the calls between them, and at last the door. */
export async function startGateway(config: GatewayConfig & CommonConfig, origins: OriginsConfig, tools: ServiceTools) {
  const { log, onStop, stopping, readiness, spans } = tools
  const mint = openMint(now)

  const calls = openCallsOf({
    stopping,
    finishMs: Math.max(0, config.DRAIN_MS - LAST_WORDS_MS),
  })
  const places = openPlaces({ most: config.CALLS_AT_ONCE, mostOfOne: config.PROJECT_CALLS_AT_ONCE })
  const waitingRoom = openWaitingRoom(config.ADMISSIONS_AT_ONCE)
  const measures = openMeasures(tools.meter, calls.count)
  const explain = failureExplainer({ log, measures })

  const bell = openBell({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) =>
      log.warn({ err: error }, 'Redis can not be reached; who waits for a running call asks each second'),
  })
  onStop('bell', () => bell.close())

  const client = openLedgerClient({ url: config.LEDGER_URL, service: 'gateway', secret: config.SERVICE_SECRET })
  const ledger = tracedLedger(spans && tools.tracer, client)
  onStop('ledger client', () => ledger.close())
  readiness.check('ledger', ledgerAnswers(ledger))

  const holder = await registerHolder({ ledger, mintId: () => mint('hld'), stopping, log })
  onStop('holder', () => holder.stop())

  const ways = openOrigins(origins, {
    circuitChanged(change) {
      measures.circuitChanged(change)
      log.warn(change, 'the circuit of an origin changed')
    },
    attemptFailed(failure) {
      measures.attemptFailed(failure)
      log.warn({ err: failure }, 'an origin failed an attempt')
    },
  })
  onStop('origins', () => ways.close())

  const store = await openAssetStore(assetStoreOf(config))
  onStop('asset store', () => store.close())

  const tokens = openTokenCounter({ log })
  onStop('token counter', () => tokens.close())

  onStop('open calls', () => calls.idle(), { limitMs: config.DRAIN_MS + SETTLE_MS })
  const answers = {
    origin: tracedOrigin(spans, originCaller({ origins: ways, ending: calls.ending }), config.TRACE_CONTENT),
    countUsage: usageCounter(tokens.count),
    now,
  }

  const consoleService = config.CONSOLE_URL === undefined ? null : openConsoleForwarder(config.CONSOLE_URL)
  if (consoleService) onStop('console forwarder', () => consoleService.close())

  const hold = callHolder({ ledger, bell, calls, measures, log })
  const trace = tracedBy(spans)
  const { ending } = calls
  const rates = openRates(config.RATES)
  const carrier = () => spans && carrierUnderWay()
  const startRun = tracedStart(spans && trace, runStarter({ ledger, bell, mint, waitingRoom, rates, ending, carrier }))
  const awaitRun = runAwaiter({ ledger, ending, now })
  const streamProgress = progressStreamer({ ledger, ending })
  const sendAsset = assetSender({ store })
  const runs = { places, calls, startRun, awaitRun, streamProgress, measures, trace, now }
  const app = gatewayApp({
    completeChat: chatCompletions({
      places,
      waitingRoom,
      calls,
      admit: tracedAdmission(
        spans && trace,
        callAdmitter({
          ledger,
          holder,
          mint,
          join: runningJoiner({ bell, stopping, now }),
          countExactly: exactCounter({ countAtMost: tokens.countAtMost }),
          rates,
          hold,
          waitingRoom,
        }),
      ),
      hold,
      answerJson: jsonAnswer(answers),
      answerStream: streamAnswer(answers),
      answerBySandbox: sandboxModel({ startRun, awaitRun, ledger, explain, now }),
      explain,
      measures,
      trace,
      now,
    }),
    invoke: invokeSandbox({ ...runs, waitingRoom, sendImage: imageSender({ ledger, sendAsset }) }),
    mcp: openMcp({ ...runs, ledger, store, explain, stopping, hosts: config.MCP_HOSTS, log }),
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
