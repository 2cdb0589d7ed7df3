import type { Request, Response } from 'express'

export interface Cookie {
  set(req: Request, res: Response, value: string, lifetimeMs: number): void
  clear(req: Request, res: Response): void
  /** null: not sent. */
  read(req: Request): string | null
}

/**
 * Cookie that scripts can't read and only this host receives. Over https it is `Secure` and its name starts with
 * `__Host-`, so no other host under the same domain can replace it.
 */
export function cookie(name: string, sameSite: 'strict' | 'lax', publicUrl: string | undefined): Cookie {
  const isSecure = (req: Request) => (publicUrl === undefined ? req.secure : publicUrl.startsWith('https:'))
  const nameFor = (req: Request) => (isSecure(req) ? `__Host-${name}` : name)
  const attributes = (req: Request) => ({ httpOnly: true, sameSite, path: '/', secure: isSecure(req) })

  return {
    set: (req, res, value, lifetimeMs) =>
      void res.cookie(nameFor(req), value, { ...attributes(req), maxAge: lifetimeMs }),
    clear: (req, res) => void res.clearCookie(nameFor(req), attributes(req)),
    read(req) {
      const wanted = nameFor(req)
      for (const pair of (req.get('Cookie') ?? '').split(';')) {
        const [found, value] = pair.trim().split('=')
        if (found === wanted && value) return value
      }
      return null
    },
  }
}
