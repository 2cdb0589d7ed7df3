import type { IncomingHttpHeaders } from 'node:http'
import type { RequestHandler, Response } from 'express'
import { digestOf, type RequestVerifier, type SignedRequest } from '@gateway/ledger-client/service-token'
import type { OperationRow } from '@gateway/ledger-protocol/ledger-operations'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { readBody } from '@gateway/service-kit/http/read-body'

// Internal callers authenticate with a token for each request and for each channel, and each may call only the operations
// it needs (architecture §S15), as listed in the operations' rows.

/** Maximum size of a request, unless its row says otherwise. */
export const USUAL_BODY_BYTES = 1024 * 1024

/**
 * Admits signed requests of services that may call this, and reads their bodies; 401 without a valid token for this
 * request, 403 for another service.
 */
export function authorize(
  verify: RequestVerifier,
  { path, callers, bodyBytes = USUAL_BODY_BYTES }: Pick<OperationRow, 'path' | 'callers' | 'bodyBytes'>,
): RequestHandler {
  return async (req, res, next) => {
    const signed = await signerOf(verify, req.headers, path)
    if (signed === null) return void res.status(401).json({ error: NOT_SIGNED })
    const { service, bodyDigest } = signed
    if (!callers.includes(service)) return void res.status(403).json({ error: mayNotCall(service, path) })
    const body = await readBody(req, bodyBytes)
    if (digestOf(body) !== bodyDigest) return void res.status(401).json({ error: NOT_SIGNED })
    res.locals['service'] = service
    res.locals['body'] = body
    next()
  }
}

/** Who signed a request to this path, and for which body; null without a valid token. */
export function signerOf(
  verify: RequestVerifier,
  headers: IncomingHttpHeaders,
  path: string,
): Promise<SignedRequest | null> {
  const [scheme, token] = (headers.authorization ?? '').split(' ')
  return scheme === 'Bearer' && token ? verify(token, path) : Promise.resolve(null)
}

export const NOT_SIGNED =
  'A service token for this request is needed: sign it with the private key whose public key the ledger knows.'

export function mayNotCall(service: ServiceName, path: string): string {
  return `The service ${service} may not call ${path}.`
}

/** Returns the calling service, once it has passed `authorize`. */
export function callerOf(res: Response): ServiceName {
  return res.locals['service'] as ServiceName
}

/** Returns the body of a request that has passed `authorize`, once: a response that stays open does not keep it. */
export function takeBody(res: Response): Buffer {
  const body = res.locals['body'] as Buffer
  delete res.locals['body']
  return body
}
