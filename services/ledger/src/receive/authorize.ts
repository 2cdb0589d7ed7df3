import type { RequestHandler, Response } from 'express'

// Internal callers prove themselves with a short-lived signed token, and each may do only what its work needs (S15).

export type Service = 'gateway' | 'worker' | 'console'
export type Right =
  | 'items'
  | 'models'
  | 'keys'
  | 'holders'
  | 'fundings'
  | 'barrier'
  | 'wallets'
  | 'executions'
  | 'persons' // to begin runs in the name of a person, whose rights it has checked
  | 'sandboxes'
  | 'assets'

const RIGHTS: Record<Service, readonly Right[]> = {
  gateway: ['items', 'models', 'keys', 'holders', 'executions', 'sandboxes', 'assets'],
  worker: ['items', 'holders', 'assets'],
  console: ['fundings', 'barrier', 'wallets', 'executions', 'persons'],
}

/** Answers who signed the token, or null. */
export type VerifyToken = (token: string) => Promise<string | null>

/** Lets a request pass whose service holds the right; 401 without a good token, 403 without the right. */
export function authorize(verify: VerifyToken, right: Right): RequestHandler {
  return async (req, res, next) => {
    const [scheme, token] = (req.headers.authorization ?? '').split(' ')
    const service = scheme === 'Bearer' && token ? await verify(token) : null
    if (service === null) {
      res
        .status(401)
        .json({ error: 'A service token is needed: sign one with the service secret that the ledger knows.' })
    } else if (!RIGHTS[service as Service]?.includes(right)) {
      res.status(403).json({ error: `The service ${service} may not use ${right}.` })
    } else {
      res.locals['service'] = service
      next()
    }
  }
}

/** Whether whoever asks, and has passed `authorize`, also holds this right. */
export function holds(res: Response, right: Right): boolean {
  return RIGHTS[res.locals['service'] as Service]?.includes(right) ?? false
}
