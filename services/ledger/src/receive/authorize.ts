import type { RequestHandler, Response } from 'express'

// Internal callers prove themselves with a short-lived signed token, and each may do only what its work needs (S15).

export type Service = 'gateway' | 'worker' | 'console'
export type Permission =
  | 'items'
  | 'models'
  | 'keys'
  | 'instances'
  | 'fundings'
  | 'barrier'
  | 'wallets'
  | 'executions'
  | 'persons' // to begin runs in the name of a person, whose rights it has checked
  | 'sandboxes'
  | 'assets'

const PERMISSIONS: Record<Service, readonly Permission[]> = {
  gateway: ['items', 'models', 'keys', 'instances', 'executions', 'sandboxes', 'assets'],
  worker: ['items', 'instances', 'assets'],
  console: ['fundings', 'barrier', 'wallets', 'executions', 'persons'],
}

/** Answers who signed the token, or null. */
export type VerifyToken = (token: string) => Promise<string | null>

/** Lets a request pass whose service holds the right; 401 without a good token, 403 without the right. */
export function authorize(verify: VerifyToken, permission: Permission): RequestHandler {
  return async (req, res, next) => {
    const [scheme, token] = (req.headers.authorization ?? '').split(' ')
    const service = scheme === 'Bearer' && token ? await verify(token) : null
    if (service === null) {
      res
        .status(401)
        .json({ error: 'A service token is needed: sign one with the service secret that the ledger knows.' })
    } else if (!PERMISSIONS[service as Service]?.includes(permission)) {
      res.status(403).json({ error: `The service ${service} may not use ${permission}.` })
    } else {
      res.locals['service'] = service
      next()
    }
  }
}

/** Whether whoever asks, and has passed `authorize`, also holds this right. */
export function holds(res: Response, permission: Permission): boolean {
  return PERMISSIONS[res.locals['service'] as Service]?.includes(permission) ?? false
}
