import type { Request, RequestHandler } from 'express'
import { isFollower, isRevocation } from '@gateway/api/request-kinds'
import { credentialOf } from '@gateway/service-kit/http/caller-permits'
import { countedAddress } from '@gateway/service-kit/http/connections'
import type { ConsoleDeps } from '../deps.ts'
import { sentSecret } from '../sign-in/authenticate.ts'
import { isSignedIn, userOf } from '../sign-in/user.ts'
import { queryAs } from './connection-turns.ts'
import { type AskedPermits, holdPermits, permitsOf } from './request-limits.ts'

/** Admits a request if its caller may have another one in progress. @throws Refusal `overloaded` */
export function limitRequests(deps: Pick<ConsoleDeps, 'requestLimits' | 'publicUrl'>): RequestHandler {
  const { requestLimits } = deps
  return (req, res, next) => {
    const asked = askedBy(deps, req)
    const held = holdPermits(res, asked, requestLimits.begin(asked))
    res.once('finish', () => {
      if (isSignedIn(res) && res.statusCode < 400) requestLimits.answered(asked, userOf(res))
    })
    queryAs(held, next)
  }
}

/** Runs each handler under the permits of its request (Q2 in request-limits.ts). */
export function underPermits<Operation extends string>(
  handlers: Record<Operation, RequestHandler | null>,
): Record<Operation, RequestHandler | null> {
  const limited = Object.entries<RequestHandler | null>(handlers).map(([operation, handle]) => {
    const inPermits: RequestHandler = (req, res, next) => permitsOf(res).during(() => handle?.(req, res, next))
    return [operation, handle && inPermits]
  })
  return Object.fromEntries(limited) as Record<Operation, RequestHandler | null>
}

function askedBy(deps: Pick<ConsoleDeps, 'publicUrl'>, req: Request): AskedPermits {
  const path = req.baseUrl + req.path
  const { secret } = sentSecret(deps, req)
  return {
    credential: secret === null ? null : credentialOf(secret),
    address: countedAddress(req),
    revokes: isRevocation(req.method, path),
    follows: isFollower(req.method, path),
    tenant: /^\/api\/v2\/tenants\/([^/]+)/i.exec(path)?.[1] ?? null,
  }
}
