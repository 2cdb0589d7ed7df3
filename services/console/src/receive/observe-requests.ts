import type { RequestHandler } from 'express'
import { seconds } from '@gateway/process/seconds'
import type { ConsoleDeps } from '../needs.ts'
import { requestIdOf } from './request-id.ts'

/** One log line and one measurement a request, under the route's pattern so that no id becomes a label. */
export function observeRequests({ log, meter }: Pick<ConsoleDeps, 'log' | 'meter'>): RequestHandler {
  const took = meter.createHistogram('console.requests.duration', {
    description: 'Requests by route and status',
    ...seconds,
  })
  return (req, res, next) => {
    const startedAt = performance.now()
    res.on('finish', () => {
      const ms = performance.now() - startedAt
      const route = (req.route as { path?: string } | undefined)?.path ?? 'none'
      took.record(ms / 1_000, { method: req.method, route, status: res.statusCode })
      const person = (res.locals['person'] as { id: string } | undefined)?.id
      log.info(
        { requestId: requestIdOf(res), method: req.method, route, status: res.statusCode, ms, person },
        'request',
      )
    })
    next()
  }
}
