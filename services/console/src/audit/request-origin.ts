import { AsyncLocalStorage } from 'node:async_hooks'
import type { Request, RequestHandler } from 'express'
import { callerAddress } from '@gateway/service-kit/http/connections'
import { requestIdOf } from '@gateway/service-kit/http/preamble'
import { redactForms } from '@gateway/service-kit/text/redact'

/** Where a change came from. All null: the service itself made it. */
export interface Origin {
  /** The X-Request-Id of the answer. */
  request: string | null
  /** Address of the caller, behind the trusted proxies. */
  address: string | null
  /** The user agent, without credentials in it. */
  device: string | null
}

/** Longer user agents are cut. */
const DEVICE_CHARACTERS = 200

const origins = new AsyncLocalStorage<Origin>()
const service: Origin = { request: null, address: null, device: null }

/** Notes the origin of each request for the audit rows that it writes. */
export function noteOrigin(): RequestHandler {
  return (req, res, next) => origins.run({ request: requestIdOf(res) ?? null, ...callerOf(req) }, next)
}

/** Returns the origin of the request in progress. */
export function currentOrigin(): Origin {
  return origins.getStore() ?? service
}

function callerOf(req: Request): Pick<Origin, 'address' | 'device'> {
  const device = redactForms(req.get('User-Agent') ?? '').slice(0, DEVICE_CHARACTERS)
  return { address: callerAddress(req) || null, device: device || null }
}
