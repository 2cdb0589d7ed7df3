import type { IncomingMessage } from 'node:http'
import type { Express, Request, RequestHandler } from 'express'
import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { refuse } from '@gateway/api/refusal'
import { openConcurrencyLimiter, type ConcurrencyLimiter } from '@gateway/service-kit/http/caller-permits'
import { countedAddress } from '@gateway/service-kit/http/connections'
import { readBody } from '@gateway/service-kit/http/read-body'

// Bodies of requests that anyone may send, received before their permits are taken. A permit held while a body arrives
// would let a few slow senders keep everyone from signing in.
//   B1  A small body takes no permit: the number of connections limits the memory for them.
//   B2  A larger one, which only some routes accept, takes a permit from those for larger bodies until it has arrived.

const SMALL_BYTES = 8 * 1024
const MAX_LARGER = 64

const received = new WeakMap<IncomingMessage, Buffer>()

/** Mounts what receives the bodies of all operations that anyone may call. */
export function receiveFirst(app: Express): void {
  const larger = openConcurrencyLimiter({ maxPermits: MAX_LARGER, whenFull: () => refuse('overloaded', {}) })
  for (const { path, method, by, body, maxBodyBytes = SMALL_BYTES } of Object.values<ApiRoute>(consoleRoutes))
    if (by === 'anyone' && body !== undefined)
      app.route(path)[method.toLowerCase() as 'post'](receive(larger, maxBodyBytes))
}

function receive(larger: ConcurrencyLimiter, limitBytes: number): RequestHandler {
  return async (req, _res, next) => {
    const permit = isSmall(req, limitBytes) ? null : larger.acquire(countedAddress(req)) // B1, B2
    try {
      received.set(req, await readBody(req, limitBytes))
    } finally {
      permit?.release()
    }
    next()
  }
}

/** Whether at most `SMALL_BYTES` can arrive, or the body is refused unread. */
function isSmall({ headers }: Request, limitBytes: number): boolean {
  const declared = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : limitBytes))
  return declared <= SMALL_BYTES || declared > limitBytes
}

/**
 * Returns the body of a request as it was sent, whether or not it was received before.
 * @throws Refusal `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function bodyOf(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return received.get(req) ?? readBody(req, limitBytes)
}
