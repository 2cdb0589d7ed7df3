import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { openApiDocument } from '@gateway/api/openapi-document'
import { refuse } from '@gateway/api/refusal'
import { docsSite } from '../docs/docs-site.ts'

// The documentation: guides at /docs, and the API reference as /openapi.json for programs and at /docs/api for users.
// The reference page is Swagger UI, served from its npm package, so a browser contacts only this service. The set of
// files is fixed; no other file can be requested.

const compress = promisify(gzip)

const own = (name: string) => path.join(import.meta.dirname, '../docs', name)
const library = (name: string) => createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)

const API_PAGE = '/docs/api'
const pictures = path.join(import.meta.dirname, '../../../../docs/pictures')

const files: Record<string, { from: string; type: string }> = {
  [API_PAGE]: { from: own('api.html'), type: 'text/html; charset=utf-8' },
  '/docs/open.js': { from: own('open.js'), type: 'text/javascript; charset=utf-8' },
  '/docs/docs.js': { from: own('docs.js'), type: 'text/javascript; charset=utf-8' },
  '/docs/docs.css': { from: own('docs.css'), type: 'text/css; charset=utf-8' },
  '/docs/icon.svg': { from: own('icon.svg'), type: 'image/svg+xml' },
  '/docs/swagger-ui-bundle.js': { from: library('swagger-ui-bundle.js'), type: 'text/javascript; charset=utf-8' },
  '/docs/swagger-ui.css': { from: library('swagger-ui.css'), type: 'text/css; charset=utf-8' },
  ...Object.fromEntries(
    readdirSync(pictures).map((name) => [
      `/docs/pictures/${name}`,
      { from: path.join(pictures, name), type: 'image/png' },
    ]),
  ),
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]
const strictPolicy = [...policy, "style-src 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'"]
const libraryPolicy = [...policy, "style-src 'self' 'unsafe-inline'"] // the library writes styles into elements

const headers = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  // Revalidate on each use; sent again only if changed.
  'Cache-Control': 'no-cache',
}

/**
 * GET /docs and everything below it, and /llms.txt. For a missing page, a browser gets an HTML 404 and a program JSON.
 * @throws Error if a page named in docs/ is missing
 */
export function showDocs(): RequestHandler {
  const { texts, nothing } = docsSite()
  const kept = new Map<string, Promise<Kept>>()
  return async (req, res) => {
    const asked = req.path.replace(/\/$/, '')
    const text = texts.get(asked)
    const file = Object.hasOwn(files, asked) ? files[asked] : undefined
    if (text === undefined && file === undefined) return showNothing(req, res, nothing())
    if (!kept.has(asked))
      kept.set(asked, file ? keep(readFileSync(file.from), file.type) : keep(Buffer.from(text!.text()), text!.type))
    send(req, res, await kept.get(asked)!, asked === API_PAGE ? libraryPolicy : strictPolicy)
  }
}

/** GET /openapi.json, also at /docs/openapi.json, the target of links in the guides. */
export function showOpenApi(): RequestHandler {
  let kept: Promise<Kept> | null = null
  return async (req, res) => {
    kept ??= keep(Buffer.from(JSON.stringify(openApiDocument())), 'application/json')
    send(req, res, await kept, strictPolicy)
  }
}

function showNothing(req: Request, res: Response, page: string): void {
  if (req.accepts(['json', 'html']) !== 'html') throw refuse('not_found', {})
  res.set({ ...headers, 'Content-Security-Policy': strictPolicy.join('; '), Vary: 'Accept' })
  res.status(404).type('html').end(page)
}

interface Kept {
  bytes: Buffer
  packed: Buffer
  type: string
  etag: string
}

async function keep(bytes: Buffer, type: string): Promise<Kept> {
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, packed: await compress(bytes), type, etag }
}

function send(req: Request, res: Response, { bytes, packed, type, etag }: Kept, allowed: string[]): void {
  res.set({ ...headers, 'Content-Security-Policy': allowed.join('; ') })
  res.set({ 'Content-Type': type, ETag: etag, Vary: 'Accept-Encoding' })
  if (req.fresh) return void res.status(304).end()
  const takesPacked = req.acceptsEncodings('gzip') === 'gzip'
  if (takesPacked) res.set('Content-Encoding', 'gzip')
  res.end(takesPacked ? packed : bytes)
}
