import { get as httpGet } from 'node:http'
import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

test('the page and each file it asks for are there, and nothing of another place', async ({ console }) => {
  const page = await fetch(`${console.url}/console`)
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  const waiting = [...(await page.text()).matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, path]) => path!)
  const seen = new Map<string, string>()
  while (waiting.length > 0) {
    const path = waiting.pop()!
    if (seen.has(path)) continue
    expect(path).toMatch(/^\/console\/[a-z-]+\.(js|css|svg)$/)
    const answer = await fetch(console.url + path)
    expect([path, answer.status]).toEqual([path, 200])
    const text = await answer.text()
    seen.set(path, answer.headers.get('Content-Type')!)
    for (const [, name] of text.matchAll(/from '\.\/([^']+)'/g)) waiting.push(`/console/${name}`)
    // An address elsewhere would be a request elsewhere; namespaces of SVG are names only.
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//)
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|localStorage/)
  }
  expect(seen.get('/console/main.js')).toBe('text/javascript; charset=utf-8')
  expect(seen.get('/console/console.css')).toBe('text/css; charset=utf-8')
  expect(seen.get('/console/icon.svg')).toBe('image/svg+xml')
  expect(seen.size).toBeGreaterThan(10)
})

test('the page runs nothing that is not a file of its own, is framed by nobody and tells nobody where it was', async ({
  console,
}) => {
  const answer = await fetch(`${console.url}/console`)
  const policy = Object.fromEntries(
    answer.headers
      .get('Content-Security-Policy')!
      .split('; ')
      .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]),
  )
  expect(policy).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'media-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  })
  expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(answer.headers.get('Referrer-Policy')).toBe('no-referrer')
  expect(answer.headers.get('X-Frame-Options')).toBe('DENY')
  const html = await answer.text()
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|javascript:/i)
})

test('a file is sent again only when it has changed', async ({ console }) => {
  const first = await fetch(`${console.url}/console/main.js`)
  expect(first.headers.get('Cache-Control')).toBe('no-cache')
  const again = await rawGet(console.url, '/console/main.js', { 'If-None-Match': first.headers.get('ETag')! })
  expect(again).toEqual({ status: 304, text: '' })
})

test.for([
  '/console/',
  '/console/../start.ts',
  '/console/..%2f..%2fstart.ts',
  '/console/%2e%2e/main.ts',
  '/console/files/main.js',
  '/console/none.js',
  '/console/%00',
  '/console/__proto__',
])('nothing else of the disk can be asked for [not_found]: %s', async (path, { console }) => {
  const { status, text } = await rawGet(console.url, path)
  if (path === '/console/') return expect([status, text]).toEqual([200, expect.stringContaining('/console/main.js')])
  expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: 'not_found' } }])
})

test('whoever opens an address that is not there in a browser gets a page to read', async ({ console }) => {
  const answer = await fetch(`${console.url}/console/none`, { headers: BROWSER })
  expect(answer.status).toBe(404)
  expect(answer.headers.get('Content-Type')).toContain('text/html')
  expect(answer.headers.get('Content-Security-Policy')).toContain("script-src 'self'")
  expect(await answer.text()).toContain('There is nothing here.')
})

test('the page learns how one signs in before anybody has', async ({ console, signIn }) => {
  const answer = await fetch(`${console.url}/api/v2/session`)
  expect(await answer.json()).toEqual({ baseUrl: null, provider: null })
  // Without a provider there is nowhere to go.
  expect(outcomeOf(await (await signIn()).get('/api/v2/session/oidc'))).toBe('404 not_found')
})

/** As it is written: `fetch` would tidy the path up, and ask past every cache. */
function rawGet(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    httpGet({ hostname, port, path, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode!, text }))
    }).on('error', reject)
  })
}
