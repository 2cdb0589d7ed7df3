import type { Request, Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'

export interface Cookie {
  set(req: Request, res: Response, value: string, lifetimeMs: number): void
  clear(req: Request, res: Response): void
  /** null: not sent. */
  read(req: Request): string | null
}

/**
 * The cookie of a session. `Strict`, because the pages that need it are files of ours that ask for everything themselves:
 * a link from elsewhere opens them without it, and they are signed in a moment later.
 */
export const sessionCookie = ({ publicUrl }: Pick<ConsoleDeps, 'publicUrl'>) =>
  cookie('svc_session', 'strict', publicUrl)

/**
 * A cookie that no script reads and only this host gets. Where the browser comes by https it is `Secure`, and its name
 * begins with `__Host-`: then no neighbour under the same domain can put one of its own in its place.
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
