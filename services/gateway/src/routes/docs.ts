import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { openApiDocument } from '@gateway/api/openapi-document'
import { refuse } from '@gateway/api/refusal'
import { type DocsPage, type NavigationGroup, pageLayout } from '../docs/page-layout.ts'
import { type Guide, type GuideGroup, markdownRenderer, readGuides } from '../docs/guides.ts'
import { addressOfRefusal, isRefusalCode, refusalPages } from '../docs/refusal-pages.ts'

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

interface DocsSite {
  /** Texts by address, each with its type. A page is rendered on first request. */
  texts: Map<string, { text: () => string; type: string }>
  /** The 404 page for addresses under `/docs`. */
  nothing: () => string
}

const HTML = 'text/html; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'

/**
 * Returns every page of docs/ as HTML and as Markdown. All of docs/ is read now, so that errors surface when the
 * service starts. HTML is rendered later: rendering all of it would take longer than the rest of the app's start.
 * @throws Error if a page named in docs/README.md is missing
 */
export function docsSite(): DocsSite {
  const groups = readGuides()
  const guides = groups.flatMap((group) => group.guides)
  const names = new Set(guides.map(({ name }) => name))
  const render = markdownRenderer({
    ofLink: (href) => addressOf(href, names),
    ofCode: (code) => (isRefusalCode(code) ? addressOfRefusal(code) : null),
  })
  const navigation: NavigationGroup[] = groups.map((group) => ({
    title: group.title,
    links: group.guides.map(({ name, title }) => ({ address: `/docs/${name}`, title })),
  }))
  const show = ({ address, title, markdown }: DocsPage, source: string | null) =>
    pageLayout({ address, title, markdown: source, ...render(markdown) }, navigation)

  const texts: DocsSite['texts'] = new Map()
  const pages = [homePage(groups), ...guides.flatMap(pagesOf)]
  for (const page of pages) {
    const source = page.address === '/docs' ? '/docs/index.md' : `${page.address}.md`
    texts.set(page.address, { text: once(() => show(page, source)), type: HTML })
    texts.set(source, { text: () => page.markdown, type: MARKDOWN })
  }
  const llms = { text: () => llmsText(groups), type: 'text/plain; charset=utf-8' }
  texts.set('/llms.txt', llms).set('/docs/llms.txt', llms)
  return { texts, nothing: once(() => show(nothingHere, null)) }
}

/** Caches the result of the first call. */
function once(make: () => string): () => string {
  let made: string | null = null
  return () => (made ??= make())
}

/** Most guides are one page. */
function pagesOf({ name, title, markdown }: Guide): DocsPage[] {
  return name === 'refusals' ? refusalPages(markdown) : [{ address: `/docs/${name}`, title, markdown }]
}

const nothingHere: DocsPage = {
  address: '',
  title: 'There is no such page',
  markdown: `# There is no such page

All pages are listed at [the start](/docs). What a code of a refusal means is at [refusals](/docs/refusals).
`,
}

/** Address on the site for a link in docs/, or null if the target isn't on the site. */
function addressOf(href: string, names: ReadonlySet<string>): string | null {
  if (/^(#|\/|https:\/\/)/.test(href)) return href
  if (href === 'openapi.json') return '/docs/api'
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  const code = anchor.slice(1)
  if (name === 'refusals' && isRefusalCode(code)) return addressOfRefusal(code)
  return names.has(name) ? `/docs/${name}${anchor}` : null
}

/** `/docs`: every guide with its summary. */
function homePage(groups: GuideGroup[]): DocsPage {
  const chapters = groups.map(({ title, guides }) => {
    const items = guides.map((guide) => `- [${guide.title}](/docs/${guide.name}): ${guide.about}\n`)
    return `## ${title}\n\n${items.join('')}`
  })
  return { address: '/docs', title: 'Documentation', markdown: [introduction, ...chapters].join('\n') }
}

const introduction = `# Documentation

Hosted text models and private executable flows, called with a key that belongs for life to one project. Money is reserved before a
call and settled exactly after it, from the project's wallet.

Every path and shape is in the [API reference](/docs/api), and for programs at [/openapi.json](/openapi.json).
`

/** `/llms.txt`: an introduction and every guide as Markdown (llmstxt.org). */
function llmsText(groups: GuideGroup[]): string {
  const chapters = groups.map(({ title, guides }) => {
    const items = guides.map((guide) => `- [${guide.title}](/docs/${guide.name}.md): ${guide.about}\n`)
    return `## ${title}\n\n${items.join('')}`
  })
  return [llmsIntroduction, ...chapters].join('\n')
}

const llmsIntroduction = `# Project-bound model gateway

> Hosted text models and private executable flows, called with a key that belongs for life to one project. Money is reserved before a
> call and settled exactly after it, from the project's wallet.

Chat completions are at \`POST /v1/chat/completions\`; clients that speak them work with \`/v1\` as their base address. What a refusal with
the code \`key_limit\` means is at \`/docs/refusals/key_limit.md\`, and so for each code.

- [OpenAPI](/openapi.json): every path and shape.
`
