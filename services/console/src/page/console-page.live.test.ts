import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

// The page as the console serves it under /console.

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const start = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/console`, { headers })

/** Paths of the files that the start page references. */
async function filesOf(url: string): Promise<string[]> {
  const html = await (await start(url)).text()
  return [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address!)
}

test('the start page is revalidated on each load and not sent again while unchanged', async ({ console }) => {
  const address = `${console.url}/console`
  const { headers } = await rawGet(address, { 'Accept-Encoding': 'br' })
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
  const again = await rawGet(address, { 'Accept-Encoding': 'br', 'If-None-Match': headers.etag! })
  expect([again.statusCode, again.bytes.length]).toEqual([304, 0])
})

// spec: can/console
test('each file the start page references has a content hash in its name and is cached permanently', async ({
  console,
}) => {
  const files = await filesOf(console.url)
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) {
    expect(file).toMatch(/^\/console\/[a-zA-Z-]+-[\w-]{8}\.(js|css|svg)$/)
    const answer = await fetch(console.url + file)
    expect([file, answer.status]).toEqual([file, 200])
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
  }
})

test.for([
  ['br, gzip', 'br', brotliDecompressSync],
  ['gzip, deflate', 'gzip', gunzipSync],
  ['gzip, br;q=0', 'gzip', gunzipSync],
  ['identity', null, (bytes: Uint8Array) => bytes],
] as const)(
  'serves a client that accepts %s a script encoded as %s',
  async ([accepted, encoding, unpack], { console }) => {
    const [script] = (await filesOf(console.url)).filter((file) => file.endsWith('.js'))
    const whole = await (await fetch(console.url + script!)).text()
    const { statusCode, headers, bytes } = await rawGet(console.url + script!, { 'Accept-Encoding': accepted })
    expect([statusCode, headers['content-encoding'] ?? null]).toEqual([200, encoding])
    expect(headers.vary).toContain('Accept-Encoding')
    expect(Buffer.from(unpack(bytes)).toString()).toBe(whole)
    expect(Number(headers['content-length'])).toBe(bytes.length)
  },
)

test('the page runs only its own files, cannot be framed and sends no referrer', async ({ console }) => {
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
    'font-src': "'self'",
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
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|javascript:/i)
})

test('redirects a browser from the root to the page', async ({ console }) => {
  const answer = await fetch(console.url, { headers: BROWSER, redirect: 'manual' })
  expect([answer.status, answer.headers.get('Location')]).toEqual([302, '/console'])
})

test('reports the sign-in options without authentication [not_found]', async ({ console, signIn }) => {
  const answer = await fetch(`${console.url}/api/v2/session`)
  expect(await answer.json()).toEqual({
    baseUrl: null,
    provider: null,
    secondFactor: false,
    sendsMail: false,
  })
  // Without a provider there is nothing to redirect to.
  for (const path of ['/api/v2/session/oidc', '/api/v2/session/oidc/callback']) {
    expect(outcomeOf(await (await signIn()).get(path))).toBe('404 not_found')
    expect((await fetch(console.url + path)).status).toBe(404)
  }
})

test('serves the start page to a browser at any path of the page, and 404 to other clients [not_found]', async ({
  console,
}) => {
  const place = `${console.url}/console/projects/ten_1/prj_1/keys`
  const browser = await fetch(place, { headers: BROWSER })
  expect([browser.status, await browser.text()]).toEqual([200, await (await start(console.url)).text()])
  const program = await fetch(place)
  expect(outcomeOf({ status: program.status, headers: program.headers, body: await program.json() })).toBe(
    '404 not_found',
  )
})

test.for([
  '/console/made-from.txt',
  '/console/none-12345678.js',
  '/console/..%2fpackage.json',
  '/console/%2e%2e/main.ts',
  '/console/%00',
  '/console/__proto__',
])('responds with 404 to a path that is not a file of the page [not_found]: %s', async (path, { console }) => {
  const answer = await fetch(console.url + path)
  expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
})

/** Sends a GET request without decompressing the response, as `fetch` would. */
async function rawGet(url: string, headers: Record<string, string>) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject)
  })
  return { statusCode: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) }
}
