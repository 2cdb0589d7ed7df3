import express, { type Express, type RequestHandler } from 'express'
import type { HealthAnswer, HealthCheck, Readiness } from '@gateway/process/health'
import { metricsContentType } from '@gateway/process/telemetry'

export interface Deps {
  readiness: Readiness
  /** Whether this process can go on; the reason where only a new one could. */
  alive: HealthCheck
  metricsText: () => Promise<string>
}

/** The whole surface of the worker, internal only: its work comes through the queue. */
export function workerApp({ readiness, alive, metricsText }: Deps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)

  app.get('/health/live', probe(live(readiness, alive)))
  app.get('/health/ready', probe(readiness.ready))
  app.get('/metrics', async (_req, res) => void res.set('Content-Type', metricsContentType).end(await metricsText()))

  app.use(
    (_req, res) =>
      void res.status(404).json({ error: 'There is nothing here; app.ts of the worker lists what there is.' }),
  )
  return app
}

function live(readiness: Readiness, alive: HealthCheck): () => Promise<HealthAnswer> {
  return async () => {
    const reason = await alive()
    if (reason === null) return readiness.live()
    return { status: 503, body: { status: 'not live', reasons: { queue: reason } } }
  }
}

function probe(ask: () => HealthAnswer | Promise<HealthAnswer>): RequestHandler {
  return async (_req, res) => {
    const { status, body } = await ask()
    res.status(status).json(body)
  }
}
