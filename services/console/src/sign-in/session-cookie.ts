import type { Request, Response } from 'express'

const NAME = 'svc_session'

/** A cookie that only this service reads; `Secure` wherever the browser came by https. */
export function setSessionCookie(req: Request, res: Response, secret: string, lifetimeMs: number): void {
  res.cookie(NAME, secret, { ...attributes(req), maxAge: lifetimeMs })
}

export function clearSessionCookie(req: Request, res: Response): void {
  res.clearCookie(NAME, attributes(req))
}

/**
 * The secret of the session cookie, or null. For what changes something it counts only on requests of our own pages: a
 * browser tells where a request comes from, and SameSite alone would let other ports of the same host through.
 */
export function sessionCookieOf(req: Request): string | null {
  const site = req.get('Sec-Fetch-Site')
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (foreign && req.method !== 'GET' && req.method !== 'HEAD') return null
  for (const pair of (req.get('Cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=')
    if (name === NAME && value) return value
  }
  return null
}

function attributes(req: Request) {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: req.secure } as const
}
