import type { Request, RequestHandler } from 'express'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'

/**
 * Refuses what another site's page makes a visitor's browser send: a cookie goes along by itself, so it proves only that
 * the browser was signed in, not that our page asked. What reads changes nothing and its answer stays hidden from that
 * page; a foreign page can't send a header `Authorization` without our leave.
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

/** A browser says where a request comes from; over plain http an older header, `Origin`, is all it sends. Programs say nothing. */
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
