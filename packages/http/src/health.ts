import type { Express, RequestHandler } from 'express'

export interface HealthAnswer {
  status: number
  body: object
}

type AskHealth = () => HealthAnswer | Promise<HealthAnswer>

export interface HealthSources {
  live: AskHealth
  ready: AskHealth
  /** What was measured, in the Prometheus text format. */
  metricsText: () => Promise<string>
}

const LIVE = '/health/live'
const READY = '/health/ready'
const METRICS = '/metrics'

/** Paths that machines ask, again and again. */
export const probePaths: ReadonlySet<string> = new Set([LIVE, READY, METRICS])

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Mounts GET /health/live, /health/ready and /metrics.
 * @param otherMethods answers other methods on these paths; without it they go on to what is mounted later
 */
export function mountHealth(
  app: Express,
  { live, ready, metricsText }: HealthSources,
  otherMethods?: RequestHandler,
): void {
  const mounted = [
    app.route(LIVE).get(answer(live)),
    app.route(READY).get(answer(ready)),
    app.route(METRICS).get(async (_req, res) => {
      res.setHeader('Content-Type', METRICS_TYPE).end(await metricsText())
    }),
  ]
  if (otherMethods) for (const route of mounted) route.all(otherMethods)
}

function answer(ask: AskHealth): RequestHandler {
  return async (_req, res) => {
    const { status, body } = await ask()
    res.status(status).json(body)
  }
}
