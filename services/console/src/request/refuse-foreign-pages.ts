import type { Request, RequestHandler } from 'express'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'

/**
 * Refuses writes that a page of another site makes a browser send (CSRF). The browser adds the cookie automatically, so
 * the cookie proves only that the user is signed in, not that our page sent the request. Reads change nothing, and the
 * foreign page can't read their responses; nor can it send an `Authorization` header without our permission (CORS).
 * @throws Refusal `invalid_request`
 */
export function refuseForeignPages({ publicUrl }: Pick<ConsoleDeps, 'publicUrl'>): RequestHandler {
  return (req, _res, next) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(req.method)
    if (!changes || req.get('Authorization') !== undefined || !isForeign(req, publicUrl)) return next()
    throw refuse('invalid_request', {
      reason: 'This request comes from a page of another site.',
      resolution: "Send it from the console's own page, or with the header Authorization: Bearer and a personal token.",
    })
  }
}

/**
 * Whether a browser reports another site as the origin. Over plain http it sends only `Origin`; programs send neither.
 */
function isForeign(req: Request, publicUrl: string | undefined): boolean {
  const site = req.get('Sec-Fetch-Site')
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const origin = req.get('Origin')
  if (origin === undefined || origin === publicUrl) return false
  return hostOf(origin) !== req.get('Host')
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
