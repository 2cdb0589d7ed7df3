import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { Refusal, refuse } from '@gateway/api/refusal'
import { isRevocation } from '@gateway/api/request-kinds'
import {
  CALLER_HEADER,
  type CallerPermits,
  credentialOf,
  openCallerPermits,
  REVOCATION_PERMITS,
} from '@gateway/service-kit/http/caller-permits'
import { callerAddress, countedAddress, markAuthenticated } from '@gateway/service-kit/http/connections'
import { discardRest } from '@gateway/service-kit/http/read-body'
import { Pool } from 'undici'
import type { GatewayConfig } from './config.ts'

// Forwards `/api/v2` and `/console` to the console service, streaming requests and responses (rules §1.2).
//   F1  The console checks the credentials. The user that it names in a response is the one of the credential, so the
//       connection counts as authenticated, and later requests count towards that user.
//   F2  A request takes a permit before it takes a connection, and has it until its response is sent. There are as many
//       connections as permits, so none waits for another.
//   F3  The console may answer before it has read the body. The rest is drained, or the next request of the caller's
//       connection would never be read.

export interface ConsoleProxy {
  /** @throws Refusal `overloaded`, `unavailable`, as a rejection */
  forward: RequestHandler
  /** Requests in progress, by kind of permit. */
  requests: CallerPermits['counts']
  close(): Promise<void>
}

type Settings = Pick<GatewayConfig, 'MAX_CONCURRENT_CONSOLE_REQUESTS' | 'MAX_CONCURRENT_CONSOLE_REQUESTS_PER_USER'>

/** An execution in the console can take five minutes, plus half a minute for the response. */
const LONGEST_ANSWER_MS = 330_000
/** Timeout to the first byte of a read. The console's queries have limits of seconds. */
const LONGEST_READ_MS = 30_000
const CONNECT_MS = 2_000
/** An idle connection is probed after this time, then each second. Ten unanswered probes close it. */
const PROBE_AFTER_MS = 5_000

export function openConsoleProxy(consoleUrl: string, settings: Settings): ConsoleProxy {
  const { MAX_CONCURRENT_CONSOLE_REQUESTS: maxPermits, MAX_CONCURRENT_CONSOLE_REQUESTS_PER_USER: maxOfCaller } =
    settings
  const permits = openCallerPermits({ maxPermits, maxOfCaller, whenFull })
  const pool = new Pool(consoleUrl, {
    connections: 2 * maxPermits + REVOCATION_PERMITS, // F2
    connect: { timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS },
    headersTimeout: LONGEST_ANSWER_MS,
    bodyTimeout: LONGEST_ANSWER_MS,
  })

  async function pass(req: Request, res: Response, credential: string | null): Promise<void> {
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
        body: hasBody(req) ? forwardedBody(req) : null,
        headersTimeout: isRead(req) ? LONGEST_READ_MS : LONGEST_ANSWER_MS,
        signal: left.signal,
      })
      .catch(() => {
        throw refuse('unavailable', {})
      })
    const { 'x-request-id': _, [CALLER_HEADER]: user, ...headers } = endToEnd(answer.headers)
    if (typeof user === 'string') {
      markAuthenticated(req.socket) // F1
      if (credential !== null) permits.know(credential, user)
    } else if (answer.statusCode === 401 && credential !== null) permits.forget(credential)
    res.writeHead(answer.statusCode, headers)
    await pipeline(answer.body, res).catch(() => res.destroy())
  }

  return {
    async forward(req, res) {
      const credential = credentialIn(req)
      const revokes = isRevocation(req.method, req.baseUrl + req.path)
      const permit = permits.acquire({ credential, address: countedAddress(req), revokes })
      if (permits.userOf(credential) !== null) markAuthenticated(req.socket) // F1
      try {
        await pass(req, res, credential)
      } finally {
        permit.release()
      }
    },
    requests: permits.counts,
    close: () => pool.close(),
  }
}

function whenFull(hasMaximum: boolean): Refusal {
  if (!hasMaximum) return refuse('overloaded', {})
  return new Refusal(
    'overloaded',
    'This user or token has as many requests to the console in progress as it may have.',
    'Wait until one of them is answered, then send this request again.',
  )
}

/** The credential that the console would read: the bearer token, or else its cookies. */
function credentialIn({ headers }: Request): string | null {
  const sent = headers.authorization ?? headers.cookie
  return sent === undefined ? null : credentialOf(sent)
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

/** Forwarding headers of the request. Of those sent, only the ones of a trusted proxy are passed on. */
function addressesOf(req: Request): Record<string, string> {
  return {
    'x-forwarded-for': callerAddress(req),
    'x-forwarded-host': req.headers.host ?? '',
    'x-forwarded-proto': req.protocol,
  }
}

function pathOf({ originalUrl }: Request): string {
  if (!originalUrl.startsWith('/')) throw refuse('not_found', {})
  return originalUrl
}

/** The body of a request, as a stream that may be destroyed without the request (F3). */
function forwardedBody(req: IncomingMessage): PassThrough {
  const { socket } = req
  return req.pipe(new PassThrough()).once('close', () => discardRest(req, socket))
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
