import type { Express, RequestHandler } from 'express'

export interface HealthAnswer {
  status: number
  body: object
}

type AskHealth = () => HealthAnswer | Promise<HealthAnswer>

export interface HealthSources {
  live: AskHealth
  ready: AskHealth
}

const LIVE = '/health/live'
const READY = '/health/ready'

/** Paths that machines poll. */
export const probePaths: ReadonlySet<string> = new Set([LIVE, READY])

/**
 * Mounts GET /health/live and /health/ready. Metrics have a separate port.
 * @param otherMethods handles other methods on these paths; without it they fall through to later mounts
 */
export function mountHealth(app: Express, { live, ready }: HealthSources, otherMethods?: RequestHandler): void {
  const mounted = [app.route(LIVE).get(answer(live)), app.route(READY).get(answer(ready))]
  if (otherMethods) for (const route of mounted) route.all(otherMethods)
}

function answer(ask: AskHealth): RequestHandler {
  return async (_req, res) => {
    const { status, body } = await ask()
    res.status(status).json(body)
  }
}
