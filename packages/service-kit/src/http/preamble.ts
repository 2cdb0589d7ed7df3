import type { Request, RequestHandler, Response, Express } from 'express'

/** A finished request. It has no text of the client: the route is its pattern. */
export interface FinishedRequest {
  method: string
  /** `none` if no route matched. */
  route: string
  status: number
  /** From its headers to the last byte of the response, or to the client's disconnect. Milliseconds. */
  ms: number
  /** Whether the client disconnected before the end of the response. The status may then never have been sent. */
  left: boolean
}

interface RequestLog {
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
}

export interface PreambleOptions {
  newRequestId: () => string
  /**
   * Whether the id sent with a request is logged as `callerRequestId`, if it is 8 to 64 of `A-Za-z0-9._-`. For a
   * service behind the gateway, whose log has the same id. It never becomes the id of the response: anyone could choose
   * it.
   */
  logsSentId?: boolean
  /** Where browsers reach this service. Default: as each request came, by the headers of a trusted proxy. */
  publicUrl?: string | undefined
  log: RequestLog
  /** Monotonic milliseconds. */
  now: () => number
  /** Fields that this service adds to the line of a finished request. */
  fields?: (res: Response) => object
  /** Called with each finished request, for a metric. */
  record?: (request: FinishedRequest) => void
}

const A_YEAR = 'max-age=31536000'

const FIT_ID = /^[A-Za-z0-9._-]{8,64}$/

/**
 * Sets `X-Request-Id` and `nosniff` on every response, since it may repeat what a client wrote, and where it is reached by
 * https, HSTS: browsers then never ask it in clear. Logs one line per
 * finished request, whether it got its response or its client disconnected (`left`). Probes and scrapes, which recur
 * constantly, are logged at level debug.
 */
export function preamble({
  newRequestId,
  logsSentId,
  publicUrl,
  log,
  now,
  fields,
  record,
}: PreambleOptions): RequestHandler {
  function end(req: Request, res: Response, ms: number): void {
    const { method } = req
    const route = (req.route as { path: string } | undefined)?.path ?? 'none'
    const status = res.statusCode
    const left = !res.writableFinished
    record?.({ method, route, status, ms, left })
    const line = {
      requestId: res.getHeader('X-Request-Id'),
      ...(logsSentId === true && sentIdOf(req)),
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
    res.setHeader('X-Request-Id', newRequestId())
    res.setHeader('X-Content-Type-Options', 'nosniff')
    if (publicUrl?.startsWith('https:') ?? req.secure) res.setHeader('Strict-Transport-Security', A_YEAR)
    const startMs = now()
    res.on('close', () => end(req, res, now() - startMs)) // emitted once, after the last byte of a complete response
    next()
  }
}

function sentIdOf({ headers }: Request): { callerRequestId?: string } {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && FIT_ID.test(sent) ? { callerRequestId: sent } : {}
}

/** The id that `preamble` assigned; undefined if it did not run. */
export function requestIdOf(res: Pick<Response, 'getHeader'>): string | undefined {
  return res.getHeader('X-Request-Id') as string | undefined
}

export interface HealthAnswer {
  status: number
  body: object
}

type AskHealth = () => HealthAnswer | Promise<HealthAnswer>

interface HealthSources {
  live: AskHealth
  ready: AskHealth
}

const LIVE = '/health/live'
const READY = '/health/ready'

/** Paths that machines poll. */
const probePaths: ReadonlySet<string> = new Set([LIVE, READY])

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
