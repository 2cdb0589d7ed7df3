import { createHash } from 'node:crypto'
import path from 'node:path'
import { pageAddress, type BuiltFile, type BuiltPage } from '@gateway/console-page/built-page'
import { refuse } from '@gateway/contracts/refusal'
import type { Request, RequestHandler } from 'express'
import { pageHeaders } from './page-headers.ts'
import { expectBrowser, returnOfBrowser } from './refusal-page.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const START = 'index.html'
const YEAR_S = 31_536_000

export const pagePaths = [pageAddress, `${pageAddress}/*file`]

/**
 * GET /console and all below it: the page. Its files are in memory, compressed once, and kept by browsers for ever, as
 * their names change with their content. An address that is no file is a place within the page: a browser that goes there gets
 * its start, which is asked about anew each time.
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

/** The smallest that whoever asks can read. */
function encodingFor(req: Request): keyof BuiltFile {
  return (['br', 'gzip'] as const).find((encoding) => req.acceptsEncodings(encoding) === encoding) ?? 'identity'
}
