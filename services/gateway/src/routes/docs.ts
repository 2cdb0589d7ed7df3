import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { openApiDocument } from '@gateway/contracts/openapi-document'
import { refuse } from '@gateway/contracts/refusal'

// The description of the API, for programs at /openapi.json and for people at /docs. The page is Swagger UI, which is
// read from its npm package: a browser asks nobody but this service. What is served is fixed; nothing else of the disk
// can be asked for.

const compress = promisify(gzip)

const own = (name: string) => path.join(import.meta.dirname, '../docs', name)
const library = (name: string) => fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))

const files: Record<string, { from: string; type: string }> = {
  'index.html': { from: own('index.html'), type: 'text/html; charset=utf-8' },
  'open.js': { from: own('open.js'), type: 'text/javascript; charset=utf-8' },
  'swagger-ui-bundle.js': { from: library('swagger-ui-bundle.js'), type: 'text/javascript; charset=utf-8' },
  'swagger-ui.css': { from: library('swagger-ui.css'), type: 'text/css; charset=utf-8' },
  'favicon-32x32.png': { from: library('favicon-32x32.png'), type: 'image/png' },
}

const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'", // the library writes styles into elements
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  // Asked about anew each time, and sent only when it has changed.
  'Cache-Control': 'no-cache',
}

/** GET /docs and the files of that page. */
export function showDocs(): RequestHandler<{ file?: string }> {
  const kept = new Map<string, Promise<Kept>>()
  return async (req, res) => {
    const name = req.params.file ?? 'index.html'
    const file = Object.hasOwn(files, name) ? files[name] : undefined
    if (!file) throw refuse('not_found', {})
    if (!kept.has(name)) kept.set(name, keep(readFileSync(file.from), file.type))
    send(req, res, await kept.get(name)!)
  }
}

/** GET /openapi.json */
export function showOpenApi(): RequestHandler {
  let kept: Promise<Kept> | null = null
  return async (req, res) => {
    kept ??= keep(Buffer.from(JSON.stringify(openApiDocument())), 'application/json')
    send(req, res, await kept)
  }
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

function send(req: Request, res: Response, { bytes, packed, type, etag }: Kept): void {
  res.set({ ...headers, 'Content-Type': type, ETag: etag, Vary: 'Accept-Encoding' })
  if (req.fresh) return void res.status(304).end()
  const takesPacked = req.acceptsEncodings('gzip') === 'gzip'
  if (takesPacked) res.set('Content-Encoding', 'gzip')
  res.end(takesPacked ? packed : bytes)
}
