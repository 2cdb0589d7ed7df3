import type { Request, RequestHandler } from 'express'
import { isRevocation } from '@gateway/api/revocations'
import { credentialOf } from '@gateway/service-kit/http/caller-permits'
import { callerAddress } from '@gateway/service-kit/http/connections'
import type { ConsoleDeps } from '../deps.ts'
import { sentSecret } from '../sign-in/authenticate.ts'
import { isSignedIn, userOf } from '../sign-in/user.ts'
import { queryAs } from './connection-turns.ts'
import { type AskedPermits, holdPermits } from './request-limits.ts'

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

function askedBy(deps: Pick<ConsoleDeps, 'publicUrl'>, req: Request): AskedPermits {
  const path = req.baseUrl + req.path
  const { secret } = sentSecret(deps, req)
  return {
    credential: secret === null ? null : credentialOf(secret),
    address: callerAddress(req),
    revokes: isRevocation(req.method, path),
    tenant: /^\/api\/v2\/tenants\/([^/]+)/i.exec(path)?.[1] ?? null,
  }
}
