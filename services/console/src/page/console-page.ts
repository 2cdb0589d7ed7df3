import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { RequestHandler } from 'express'
import { expectBrowser } from './refusal-page.ts'
import { pageHeaders } from './page-headers.ts'
import { refuse } from '@gateway/contracts/refusal'

const folder = path.join(import.meta.dirname, 'files')

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface PageFile {
  bytes: Buffer
  type: string
  etag: string
}

/**
 * GET /console and the files under it: the web console, which is plain HTML, CSS and modules that browsers run as they are.
 * The files are read once, when the service starts; nothing else of the disk can be asked for.
 */
export function consolePage(): RequestHandler {
  const files = readFiles()
  return (req, res) => {
    expectBrowser(req, res)
    const name = req.path.replace(/^\/console(\/|$)|^\/$/, '')
    const file = files.get(name === '' ? 'index.html' : name)
    if (!file) throw refuse('not_found', {})
    // Asked about anew each time, and sent only when it has changed: after an upgrade no page runs with old parts.
    res.set({ ...pageHeaders, 'Cache-Control': 'no-cache', 'Content-Type': file.type, ETag: file.etag })
    if (req.fresh) return void res.status(304).end()
    res.send(file.bytes)
  }
}

function readFiles(): Map<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const name of readdirSync(folder)) {
    const type = types[path.extname(name)]
    if (type === undefined) continue
    const bytes = readFileSync(path.join(folder, name))
    files.set(name, { bytes, type, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` })
  }
  return files
}
