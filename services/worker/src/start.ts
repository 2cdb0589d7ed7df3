import { randomBytes } from 'node:crypto'
import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { mintId } from '@gateway/contracts/ids'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openQueueDepth } from '@gateway/node-queue/queue-depth'
import { openNodeWorker } from '@gateway/node-queue/node-worker'
import { tracedExecution } from '@gateway/node-queue/trace-jobs'
import { openProviders } from '@gateway/providers/open-providers'
import type { ProvidersConfig } from '@gateway/providers/provider-config'
import { usageCounter } from '@gateway/tokens/counted-usage'
import { exactCounter } from '@gateway/tokens/exact-count'
import { openTokenCounter } from '@gateway/tokens/token-counter'
import type { CommonConfig } from '@gateway/process/common-config'
import type { ServiceTools } from '@gateway/process/run-service'
import { openNotifier } from '@gateway/notifier/notifier'
import { workerApp } from './app.ts'
import type { WorkerConfig } from './config.ts'
import { chatNode } from './kinds/chat-node.ts'
import { imageLoader } from './kinds/load-images.ts'
import { audioNode, imageNode } from './kinds/media-node.ts'
import { openMetrics } from './metrics.ts'
import { nodeAdmitter } from './perform/admit-node.ts'
import { failureExplainer } from './perform/explain-failure.ts'
import { paidPerformer } from './perform/paid-node.ts'
import { performer } from './perform/perform.ts'
import { isNotHung, isPolled, neverEvicts } from './queue-health.ts'
import { registerInstance } from './register-instance.ts'
import { LedgerSilent, nodeClaimer } from './run/claim-node.ts'
import { nodeCompleter } from './run/complete-node.ts'
import { endingOpener } from './run/ending.ts'
import { nodeRunner } from './run/run-node.ts'
import { tracedPaid, tracedPerform, tracedWait } from './trace.ts'
import { watchQueue } from './watch-queue.ts'

const now = () => performance.now()
const mint = <P extends string>(prefix: P) => mintId(prefix, Date.now(), randomBytes(10))

/** What the queue takes at most to let go, after the runs have had their time. */
const LET_GO_MS = 3_000

/**
 * Builds the worker: health, so that it can be asked while it waits for the ledger; the way to the ledger and this process
 * on its books; what nodes need; and at last the queue, which is its door. A stop therefore begins with taking no more jobs.
 */
export async function startWorker(
  config: WorkerConfig & CommonConfig,
  providersConfig: ProvidersConfig,
  tools: ServiceTools,
) {
  const { log, onStop, stopping, readiness, spans } = tools
  const tracer = spans && tools.tracer
  const metrics = tracedWait(spans, openMetrics(tools.meter))
  let alive: () => Promise<string | null> | string | null = () => null
  await tools.listen(workerApp({ readiness, alive: () => alive(), metricsText: tools.metricsText }))

  const ledger = openLedgerClient({ url: config.LEDGER_URL, service: 'worker', secret: config.SERVICE_SECRET, tracer })
  onStop('ledger client', () => ledger.close())

  let onSilence = (_: boolean) => {}
  const { instance, heard, silent } = await registerInstance({
    ledger,
    mintId: () => mint('ins'),
    stopping,
    log,
    onSilence: (now) => onSilence(now),
    now,
  })
  onStop('instance', () => instance.stop())
  readiness.check('ledger', heard)

  const notifier = openNotifier({
    redisUrl: config.REDIS_URL,
    onTrouble: (error) => log.warn({ err: error }, 'the notifier can not be heard; runs that fail are looked for'),
  })
  onStop('notifier', () => notifier.close())

  const providers = openProviders(providersConfig, {
    circuitChanged: (change) => log.warn(change, 'the circuit of a provider changed'),
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

  const media = { providers, assets, ledger, mintId: mint }
  const explain = failureExplainer({ log })
  const countExactly = exactCounter({ countAtMost: tokens.countAtMost })
  const performPaid = paidPerformer({ admit: nodeAdmitter({ ledger, countExactly, metrics, now }), explain, now })
  const runNode = nodeRunner({
    claim: nodeClaimer({ ledger, instance, silent }),
    openEnding: endingOpener({ ledger, notifier }),
    perform: tracedPerform(
      spans,
      performer({
        paidKinds: {
          'product.chat': chatNode({
            providers,
            countUsage: usageCounter(tokens.count),
            loadImages: imageLoader({ ledger, assets }),
          }),
          'product.image': imageNode(media),
          'product.audio': audioNode(media),
        },
        performPaid: tracedPaid(spans, performPaid, config.TRACE_CONTENT),
        explain,
      }),
    ),
    complete: nodeCompleter({ ledger, log }),
    mintLease: () => randomBytes(16).toString('hex'),
    metrics,
    now,
  })

  const depth = openQueueDepth({ redisUrl: config.REDIS_URL, now: () => Date.now() })
  onStop('queue depth', () => depth.close())
  watchQueue(tools.meter, depth)

  const queue = openNodeWorker({
    redisUrl: config.REDIS_URL,
    concurrency: config.CONCURRENCY,
    run: tracedExecution(tracer, async (job, signal) => {
      await runNode(job, signal)
      metrics.ended('ran')
    }),
    onLost({ execution, node, attempt }) {
      metrics.ended('lost')
      log.warn({ execution, node, attempt }, 'the lock of a job was lost; its node goes on under its lease')
    },
    onFailed({ execution, node, attempt }, error) {
      metrics.ended('failed')
      if (error instanceof LedgerSilent) return // told once for all
      log.error({ err: error, execution, node, attempt }, 'the run of a job failed')
    },
    onTrouble: (error) => log.warn({ err: error }, 'the queue is in trouble'),
    now,
  })
  onStop('queue', () => queue.stop(config.DRAIN_MS), { limitMs: config.DRAIN_MS + LET_GO_MS })
  metrics.watch(queue)
  onSilence = (isSilent) => {
    log.warn({ silent: isSilent }, isSilent ? 'the ledger is silent: no job is taken' : 'the ledger is heard again')
    if (isSilent) queue.pause()
    else queue.resume()
  }
  const redisAnswers = neverEvicts(config.REDIS_URL)
  readiness.check('redis', redisAnswers)
  readiness.check('queue', isPolled(queue, now))
  alive = isNotHung(queue, redisAnswers, now)
}
