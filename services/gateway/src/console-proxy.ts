import { pipeline } from 'node:stream/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { refuse } from '@gateway/api/refusal'
import { callerAddress } from '@gateway/service-kit/http/connections'
import { Pool } from 'undici'

export interface ConsoleProxy {
  forward: RequestHandler
  close(): Promise<void>
}

/** An execution in the console can take five minutes, plus half a minute for the response. */
const LONGEST_ANSWER_MS = 330_000
/** Timeout to the first byte of a read. The console's queries have limits of seconds. */
const LONGEST_READ_MS = 30_000
const CONNECT_MS = 2_000
/** An idle connection is probed after this time, then each second. Ten unanswered probes close it. */
const PROBE_AFTER_MS = 5_000

/**
 * Forwards `/api/v2` and `/console` to the console service, streaming requests and responses (rules §1.2). The console
 * checks the credentials.
 */
export function openConsoleProxy(consoleUrl: string): ConsoleProxy {
  const pool = new Pool(consoleUrl, {
    connect: { timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS },
    headersTimeout: LONGEST_ANSWER_MS,
    bodyTimeout: LONGEST_ANSWER_MS,
  })
  return {
    async forward(req, res) {
      const left = new AbortController()
      res.once('close', () => left.abort())
      const answer = await pool
        .request({
          method: req.method,
          path: pathOf(req),
          headers: {
            ...endToEnd(req.headers),
            ...addressesOf(req),
            'x-request-id': String(res.getHeader('X-Request-Id')),
          },
          body: hasBody(req) ? req : null,
          headersTimeout: isRead(req) ? LONGEST_READ_MS : LONGEST_ANSWER_MS,
          signal: left.signal,
        })
        .catch(() => {
          throw refuse('unavailable', {})
        })
      const { 'x-request-id': _, ...headers } = endToEnd(answer.headers)
      res.writeHead(answer.statusCode, headers)
      await pipeline(answer.body, res).catch(() => res.destroy())
    },
    close: () => pool.close(),
  }
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Hop-by-hop headers, plus `expect`, which this server has already handled. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/)
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP_BY_HOP.has(name) && !named.includes(name)) kept[name] = value
  return kept
}

/** Forwarding headers of the request. An address chain sent by the caller is not passed on. */
function addressesOf(req: IncomingMessage): Record<string, string> {
  return {
    'x-forwarded-for': callerAddress(req),
    'x-forwarded-host': req.headers.host ?? '',
    'x-forwarded-proto': String(req.headers['x-forwarded-proto'] ?? 'http'),
  }
}

function pathOf({ originalUrl }: Request): string {
  if (!originalUrl.startsWith('/')) throw refuse('not_found', {})
  return originalUrl
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
