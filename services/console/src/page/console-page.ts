import { createHash } from 'node:crypto'
import path from 'node:path'
import { type BuiltFile, type BuiltPage, pageAddress } from '@gateway/console-page/built-page'
import { type Refusal, refuse } from '@gateway/api/refusal'
import type { Request, RequestHandler, Response } from 'express'
import type { HttpAnswer } from '@gateway/service-kit/http/answers'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const START = 'index.html'
const YEAR_S = 31_536_000

export const pagePaths = [pageAddress, `${pageAddress}/*file`]

/**
 * GET /console and all paths below it: the page. Its files are in memory, compressed once, and cached permanently by
 * browsers, because their names change with their content. Any other path is a location within the page: a browser gets
 * the start page, which is revalidated on each load.
 */
export function consolePage(files: BuiltPage): RequestHandler {
  return (req, res) => {
    expectBrowser(req, res)
    const asked = req.path.slice(pageAddress.length + 1)
    const isStart = asked === '' || asked === START || (returnOfBrowser(res) !== null && !files.has(asked))
    const name = isStart ? START : asked
    const file = files.get(name)
    const type = types[path.extname(name)]
    if (!file || type === undefined) throw refuse('not_found', {})
    const encoding = encodingFor(req)
    const bytes = file[encoding]
    res.set({
      ...pageHeaders,
      'Content-Type': type,
      'Cache-Control': isStart ? 'no-cache' : `public, max-age=${YEAR_S}, immutable`,
      ETag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
      Vary: 'Accept, Accept-Encoding',
    })
    if (encoding !== 'identity') res.set('Content-Encoding', encoding)
    if (req.fresh) return void res.status(304).end()
    res.send(bytes)
  }
}

/** Returns the smallest encoding that the client accepts. */
function encodingFor(req: Request): keyof BuiltFile {
  return (['br', 'gzip'] as const).find((encoding) => req.acceptsEncodings(encoding) === encoding) ?? 'identity'
}

/**
 * Headers of every page. Scripts, loads and requests are limited to files and addresses of this service, and text can't
 * become code: the pages build their content from text only (Trusted Types).
 */
const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
}

/**
 * Marks a request that a browser navigates to: a refusal is then sent to a browser as a page, and to a program as JSON.
 * @param returnTo console address that the page links to
 */
export function expectBrowser(req: Request, res: Pick<Response, 'locals'>, returnTo = pageAddress): void {
  res.locals['browserReturnsTo'] = req.accepts(['json', 'html']) === 'html' ? returnTo : null
}

/** Console address at which the browser of a request can start again; null: the client is not a browser. */
export function returnOfBrowser(res: Pick<Response, 'locals'>): string | null {
  return (res.locals['browserReturnsTo'] as string | null | undefined) ?? null
}

/** @param stylesheet its address @param returnTo console address */
export function refusalPage(
  { status, headers, body: { message, resolution } }: Refusal,
  stylesheet: string,
  returnTo: string,
): HttpAnswer {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>That did not work</title>
<link rel="stylesheet" href="${stylesheet}">
<main class="narrow card">
<h1>That did not work</h1>
<p>${escaped(message)}</p>
<p class="resolution">${escaped(resolution)}</p>
<p><a class="button" href="${escaped(returnTo)}">Begin again</a></p>
</main>
</html>
`
  return { status, body: html, headers: { ...headers, ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8' } }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!)
}
