import type { Request, RequestHandler, Response } from 'express'
import { probePaths } from './health.ts'

/** A request that is over. Nothing in it is what someone wrote: the route is its pattern. */
export interface FinishedRequest {
  method: string
  /** `none` where no route took it. */
  route: string
  status: number
  /** From its headers to the last byte of the answer, or to the moment at which the client left. Milliseconds. */
  ms: number
  /** Whether the client left before it had the whole answer. The status may then be one that no one was sent. */
  left: boolean
}

interface RequestLog {
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
}

export interface PreambleOptions {
  newRequestId: () => string
  /**
   * Whether the id that comes with a request stays, where it is fit: 8 to 64 of `A-Za-z0-9._-`. For a service behind another
   * one of ours, so that a request has one id.
   */
  keepsSentId?: boolean
  log: RequestLog
  /** Monotonic milliseconds. */
  now: () => number
  /** What this service adds to the line of a request that is over. */
  fields?: (res: Response) => object
  /** Called with each request that is over, for a metric. */
  record?: (request: FinishedRequest) => void
}

const FIT_ID = /^[A-Za-z0-9._-]{8,64}$/

/**
 * Gives every answer its `X-Request-Id`, and `nosniff`, as it may repeat what someone wrote. Writes one line a request once it is
 * over: answered, or left by its client (`left`). Probes and scrapes, which come again and again, are lines of level debug.
 */
export function preamble({ newRequestId, keepsSentId, log, now, fields, record }: PreambleOptions): RequestHandler {
  function end(req: Request, res: Response, ms: number): void {
    const { method } = req
    const route = (req.route as { path: string } | undefined)?.path ?? 'none'
    const status = res.statusCode
    const left = !res.writableFinished
    record?.({ method, route, status, ms, left })
    const line = {
      requestId: res.getHeader('X-Request-Id'),
      ...fields?.(res),
      method,
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      ...(left && { left }),
    }
    log[probePaths.has(route) ? 'debug' : 'info'](line, 'request')
  }

  return (req, res, next) => {
    const sent = keepsSentId === true ? req.headers['x-request-id'] : undefined
    res.setHeader('X-Request-Id', typeof sent === 'string' && FIT_ID.test(sent) ? sent : newRequestId())
    res.setHeader('X-Content-Type-Options', 'nosniff')
    const startMs = now()
    res.on('close', () => end(req, res, now() - startMs)) // comes once, and after the last byte of a whole answer
    next()
  }
}

/** The id that `preamble` gave; undefined where it did not run. */
export function requestIdOf(res: Pick<Response, 'getHeader'>): string | undefined {
  return res.getHeader('X-Request-Id') as string | undefined
}
