import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { refusalAnswer } from '@gateway/api/answer-shapes'
import { expect } from 'vitest'
import { stackTest as test } from '../stack.fixture.ts'

// Hostile requests to the documentation. Paths are sent raw, without a client that would normalize them.

interface Asked {
  method?: 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'OPTIONS'
  headers?: Record<string, string>
}

async function ask(url: string, path: string, { method = 'GET', headers = {} }: Asked = {}) {
  const { hostname, port } = new URL(url)
  const asked = request({ hostname, port, path, method, headers, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

const html = { accept: 'text/html' }

test.for([
  '/docs/..',
  '/docs/../v1/models',
  '/docs/../../package.json',
  '/docs/..%2F..%2Fpackage.json',
  '/docs/%2e%2e/%2e%2e/package.json',
  '/docs/..%5c..%5cpackage.json',
  '/docs/..\\package.json',
  '/docs/pictures/../../../package.json',
  '/docs/pictures/',
  '/docs/./flows',
  '/docs//flows',
  '/docs/flows//',
  '/DOCS/flows',
  '/docs/Flows',
  '/docs/%66lows',
  '/docs/flows%00',
  '/docs/flows.md%00.html',
  '/docs/flows;a=b',
  '/docs/flows%3Fa',
  '/docs/constructor',
  '/docs/__proto__',
  '/docs/__proto__/polluted',
  '/docs/toString',
  '/docs/%0d%0aset-cookie:%20a=b',
  '/docs/<script>alert(1)</script>',
  '/docs/%F0%9F%90%88',
  `/docs/${'a/'.repeat(3_000)}`,
])('%s returns 404, as JSON and as an HTML page [not_found]', async (path, { tenant }) => {
  const [json, page] = [await ask(tenant.url, path), await ask(tenant.url, path, { headers: html })]
  expect([json.status, refusalAnswer.parse(JSON.parse(json.text)).error.code]).toEqual([404, 'not_found'])
  expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.headers['x-content-type-options']).toBe('nosniff')
  for (const { text: said, headers } of [json, page]) {
    expect(said).not.toMatch(/<script>|set-cookie: a=b|"dependencies"/)
    expect(headers['set-cookie']).toBeUndefined()
  }
})

test.for(['%ff', '%E0%A4%A', '%', '%zz', '%C0%AE%C0%AE/', 'flows%', '%ff%3Cscript%3E'])(
  'malformed path /docs/%s returns 400 and is not echoed [invalid_request]',
  async (name, { tenant }) => {
    for (const headers of [{}, html]) {
      const answer = await ask(tenant.url, `/docs/${name}`, { headers })
      expect([answer.status, refusalAnswer.parse(JSON.parse(answer.text)).error.code]).toEqual([400, 'invalid_request'])
      expect(answer.text).not.toMatch(/script|%ff/)
    }
  },
)

test.for(['/docs/flows', '/docs', '/docs/api', '/docs/flows.md', '/llms.txt', '/openapi.json'])(
  'HEAD %s returns the headers of GET without a body',
  async (path, { tenant }) => {
    const [got, head] = [await ask(tenant.url, path), await ask(tenant.url, path, { method: 'HEAD' })]
    const comparable = ({ status, headers }: typeof got) =>
      [status, ...['content-type', 'etag', 'content-security-policy', 'vary'].map((name) => headers[name])] as const
    expect([comparable(head), head.text]).toEqual([comparable(got), ''])
  },
)

test('HEAD of a missing page returns 404', async ({ tenant }) => {
  const head = await ask(tenant.url, '/docs/none', { method: 'HEAD', headers: html })
  expect([head.status, head.text]).toEqual([404, ''])
})

test.for(['POST', 'DELETE', 'OPTIONS'] as const)(
  '%s on any page returns 405 [method_not_allowed]',
  async (method, { tenant }) => {
    for (const path of ['/docs', '/docs/flows', '/docs/none', '/llms.txt', '/openapi.json']) {
      const { status, headers } = await ask(tenant.url, path, { method })
      expect([path, status, headers['allow']]).toEqual([path, 405, 'GET'])
    }
  },
)

test('If-None-Match returns 304 only for the current ETag of an existing page, in any valid form', async ({
  tenant,
}) => {
  const { headers } = await ask(tenant.url, '/docs/flows')
  const etag = String(headers['etag'])
  const statusFor = async (path: string, tag: string) =>
    (await ask(tenant.url, path, { headers: { 'if-none-match': tag } })).status
  for (const tag of [etag, etag.slice(2), `"other", ${etag}`, '*'])
    expect([tag, await statusFor('/docs/flows', tag)]).toEqual([tag, 304])
  for (const tag of ['', '"other"', 'W/', ',,,,', '"'.repeat(5_000), etag.slice(0, -2)])
    expect([tag, await statusFor('/docs/flows', tag)]).toEqual([tag, 200])
  expect(await statusFor('/docs/money', etag)).toBe(200)
  expect(await statusFor('/docs/none', '*')).toBe(404)
})

test('a Range header is ignored and the whole page is returned', async ({ tenant }) => {
  const whole = (await ask(tenant.url, '/docs/flows')).text
  for (const range of [
    'bytes=0-9',
    'bytes=-1',
    'bytes=9999999999999-',
    'bytes=0-0,1-1,2-2',
    `bytes=${'0-0,'.repeat(2_000)}1-1`,
    'lines=1',
  ])
    expect(await ask(tenant.url, '/docs/flows', { headers: { range } })).toMatchObject({ status: 200, text: whole })
})

test('any query string is ignored, including malformed and long ones', async ({ tenant }) => {
  const plain = await ask(tenant.url, '/docs/flows')
  for (const query of [
    '?',
    '?__proto__[a]=b&constructor=c',
    '?a[]=1&a[b][c][d]=2',
    '?%ff=%E0%A4',
    '?<script>',
    `?${'a=b&'.repeat(2_500)}`,
  ])
    expect(await ask(tenant.url, `/docs/flows${query}`)).toMatchObject({ status: 200, text: plain.text })
})

test('a malformed Accept or Accept-Encoding is tolerated', async ({ tenant }) => {
  for (const headers of [
    { accept: '*/*;q=-1', 'accept-encoding': 'gzip;q=0' },
    { accept: ',;,', 'accept-encoding': ',;=,' },
    { accept: `${'a/b,'.repeat(2_000)}text/html`, 'accept-encoding': 'identity;q=0, *;q=0' },
  ]) {
    const { status, headers: answered } = await ask(tenant.url, '/docs/flows', { headers })
    expect([status, answered['content-encoding']]).toEqual([200, undefined])
    expect((await ask(tenant.url, '/docs/none', { headers })).status).toBe(404)
  }
})
