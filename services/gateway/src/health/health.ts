import type { RequestHandler } from 'express'
import type { HealthAnswer } from '@gateway/process/health'
import { metricsContentType } from '@gateway/process/telemetry'

/** Answers what a probe asks. */
export function probe(ask: () => HealthAnswer | Promise<HealthAnswer>): RequestHandler {
  return async (_req, res) => {
    const { status, body } = await ask()
    res.status(status).json(body)
  }
}

export function showMetrics(metricsText: () => Promise<string>): RequestHandler {
  return async (_req, res) => {
    res.set('Content-Type', metricsContentType).end(await metricsText())
  }
}
