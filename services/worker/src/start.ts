import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { openPoster, type Poster } from '@gateway/ledger-client/post-deliveries'
import { openQueueDepth } from '@gateway/node-queue/node-queue'
import { repeat } from '@gateway/service-kit/async/waiting'
import type { CommonConfig } from '@gateway/service-kit/process/config'
import { isNotHung, isPolled, neverEvicts, openQueue, watchQueue } from './queue/open-queue.ts'
import type { ServiceTools, Readiness } from '@gateway/service-kit/process/open-service'
import type { ProvidersConfig } from '@gateway/providers/provider-config'
import type { WorkerConfig } from './config.ts'
import { openDeps } from './open-deps.ts'
import type { Express } from 'express'
import { answerErrors, internalAnswers } from '@gateway/service-kit/http/answers'
import { notFound, openApp } from '@gateway/service-kit/http/routes'
import { mountHealth } from '@gateway/service-kit/http/preamble'
import type { Logger } from '@gateway/service-kit/process/logger'

/** Maximum time for the queue to close after the drain time of running jobs. */
const CLOSE_MS = 3_000

const POLL_MS = 1_000
/** Taking, the last posts, and recording them. */
const LAST_POSTS_MS = 20_000

/**
 * Starts the worker: first health checks, so they respond while it waits for the ledger; then its dependencies; last
 * the queue. Shutdown runs in reverse and therefore first stops taking jobs.
 */
export async function startWorker(
  config: WorkerConfig & CommonConfig,
  providersConfig: ProvidersConfig,
  tools: ServiceTools,
) {
  const { log, meter, onStop, readiness, stopping } = tools
  const { REDIS_URL: redisUrl, CONCURRENCY: concurrency, NODE_SLICE_MS: sliceMs, DRAIN_MS } = config
  await tools.listen(workerApp({ readiness, log }))

  const deps = await openDeps(config, providersConfig, tools)

  const depth = openQueueDepth({ redisUrl, now: () => Date.now() })
  onStop('queue depth', () => depth.close())
  watchQueue(meter, depth)

  const poster = openPoster(deps.ledger, log)
  const stopTaking = repeat({ log }, { name: 'webhooks', everyMs: POLL_MS, work: () => postNotices(poster) })
  const stopPosting = async () => {
    await stopTaking()
    await poster.idle()
  }
  stopping.addEventListener('abort', () => void stopPosting()) // posts end while the queue drains
  onStop('webhooks', stopPosting, { limitMs: LAST_POSTS_MS })

  const queue = openQueue(deps, { redisUrl, concurrency, sliceMs })
  onStop('queue', () => queue.stop(DRAIN_MS), { limitMs: DRAIN_MS + CLOSE_MS })

  const redisAnswers = neverEvicts(redisUrl)
  readiness.check('redis', redisAnswers)
  readiness.check('queue', isPolled(queue, deps.now))
  readiness.checkLive('queue', isNotHung(queue, redisAnswers, deps.now))
}

/** Returns 0, to try later, while the ledger cannot be reached: the heartbeat reports that. */
async function postNotices(poster: Poster): Promise<number> {
  try {
    return await poster.postDue()
  } catch (error) {
    if (error instanceof LedgerUnavailable) return 0
    throw error
  }
}

interface AppOptions {
  readiness: Readiness
  log: Pick<Logger, 'error'>
}

/** Builds the internal HTTP surface of the worker; its jobs come through the queue. */
export function workerApp({ readiness, log }: AppOptions): Express {
  const app = openApp()
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'worker', failure: 'The worker cannot answer now.', log })))
  return app
}
