import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from '@gateway/process/logger'

/** Asked by machines, again and again. */
const PROBES = new Set(['/health/live', '/health/ready', '/metrics'])

/**
 * Writes one line a request, once it is answered or its caller has left: by the route's pattern and our own ids, never by what somebody
 * wrote. Inside a traced call the logger adds the ids of the trace.
 * @param now monotonic milliseconds
 */
export function logRequests(log: Pick<Logger, 'info' | 'debug'>, now: () => number): RequestHandler {
  return (req, res, next) => {
    const startedMs = now()
    const tell = () => {
      const line = lineOf(req, res, now() - startedMs)
      log[PROBES.has(line.route) ? 'debug' : 'info'](line, 'request')
    }
    res.once('finish', tell)
    res.once('close', () => {
      if (!res.writableFinished) tell()
    })
    next()
  }
}

function lineOf(req: Request, res: Response, ms: number) {
  return {
    requestId: res.getHeader('X-Request-Id'),
    invocation: res.getHeader('X-Service-Invocation'),
    method: req.method,
    route: (req.route as { path: string } | undefined)?.path ?? 'none',
    status: res.statusCode,
    ms: Math.round(ms * 10) / 10,
    ...(!res.writableFinished && { left: true }),
  }
}
