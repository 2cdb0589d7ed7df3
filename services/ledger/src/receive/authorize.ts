import type { RequestHandler, Response } from 'express'
import type { OperationRow } from '@gateway/contracts/ledger-operations'
import type { ServiceName } from '@gateway/contracts/ledger-reads'

// Internal callers prove themselves with a short-lived signed token, and each may do only what its work needs
// (architecture §S15):
// the rows of the operations say what.

/** Answers who signed the token, or null. */
export type VerifyToken = (token: string) => Promise<ServiceName | null>

/** Lets a request pass whose service may call this; 401 without a valid token, 403 for another service. */
export function authorize(
  verify: VerifyToken,
  { path, callers }: Pick<OperationRow, 'path' | 'callers'>,
): RequestHandler {
  return async (req, res, next) => {
    const [scheme, token] = (req.headers.authorization ?? '').split(' ')
    const service = scheme === 'Bearer' && token ? await verify(token) : null
    if (service === null) {
      res
        .status(401)
        .json({ error: 'A service token is needed: sign one with the service secret that the ledger knows.' })
    } else if (!callers.includes(service)) {
      res.status(403).json({ error: `The service ${service} may not call ${path}.` })
    } else {
      res.locals['service'] = service
      next()
    }
  }
}

/** The service that calls, once it has passed `authorize`. */
export function callerOf(res: Response): ServiceName {
  return res.locals['service'] as ServiceName
}
