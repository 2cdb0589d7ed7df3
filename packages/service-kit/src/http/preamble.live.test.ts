import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { mountHealth, preamble, requestIdOf, type FinishedRequest, type PreambleOptions } from './preamble.ts'
import { openApp } from './routes.ts'
import { serve } from './serve.fixture.ts'
import { trustProxies } from './connections.ts'

const context = new AsyncLocalStorage<string>()
const answering: RequestHandler = (_req, res) => void res.json({ id: requestIdOf(res) })

/** A service with one route, and the lines that it logs. */
async function observed(handle = answering, options: Partial<PreambleOptions> = {}) {
  const lines: { level: string; context: string | undefined; line: Record<string, unknown> }[] = []
  const logged = Promise.withResolvers<void>()
  const write = (level: string) => (fields: object) => {
    lines.push({ level, context: context.getStore(), line: { ...fields } })
    logged.resolve()
  }
  const finished: FinishedRequest[] = []
  let [ids, nowMs] = [0, 0]
  const app = openApp()
  trustProxies(app, ['loopback'])
  app.use(
    preamble({
      newRequestId: () => `req_${++ids}`,
      log: { info: write('info'), debug: write('debug') },
      now: () => (nowMs += 12.34),
      record: (request) => finished.push(request),
      ...options,
    }),
  )
  app.get('/things/:id', handle)
  mountHealth(app, { live: () => ({ status: 200, body: {} }), ready: () => ({ status: 503, body: {} }) })
  return { ...(await serve(app)), lines, finished, logged: logged.promise }
}

test('every response has our request id and no header of Express', async () => {
  const { url } = await observed()
  const answer = await fetch(`${url}/things/a`, { headers: { 'X-Request-Id': 'req-of-theirs' } })
  expect(await answer.json()).toEqual({ id: 'req_1' })
  expect(answer.headers.get('x-request-id')).toBe('req_1')
  expect([answer.headers.has('x-powered-by'), answer.headers.has('etag')]).toEqual([false, false])
  expect((await fetch(`${url}/nowhere`)).headers.get('x-request-id')).toBe('req_2')
})

test('every response forbids content sniffing', async () => {
  const { url } = await observed()
  for (const path of ['/things/a', '/nowhere', '/health/live'])
    expect((await fetch(url + path)).headers.get('x-content-type-options')).toBe('nosniff')
})

test.each([
  ['req-from-before', 'req-from-before'],
  ['short', undefined],
  ['a b c d e f g h', undefined],
  ['x'.repeat(65), undefined],
])(
  'behind the gateway, the sent id %s is logged as %s and does not become the id of the response',
  async (sent, logged) => {
    const { url, lines, logged: isLogged } = await observed(answering, { logsSentId: true })
    const answer = await fetch(`${url}/things/a`, { headers: { 'X-Request-Id': sent } })
    expect(answer.headers.get('x-request-id')).toBe('req_1')
    await isLogged
    expect(lines[0]!.line['callerRequestId']).toBe(logged)
  },
)

test.each([
  [undefined, 'https', true],
  [undefined, 'http', false],
  ['https://models.example.com', 'http', true],
  ['http://127.0.0.1:8080', 'https', false],
])(
  'where the service is reached by https, browsers never ask it in clear: %s, by %s',
  async (publicUrl, proto, isTold) => {
    const { url } = await observed(answering, { publicUrl })
    const { headers } = await fetch(`${url}/things/a`, { headers: { 'X-Forwarded-Proto': proto } })
    expect(headers.get('Strict-Transport-Security')).toBe(isTold ? 'max-age=31536000' : null)
  },
)

test('a request is logged in one line and recorded once, by the pattern of its route', async () => {
  const { url, lines, finished, logged } = await observed(answering, {
    fields: (res) => ({ user: res.getHeader('X-User') }),
  })
  await fetch(`${url}/things/secret?key=secret`)
  await logged
  expect(lines).toEqual([
    {
      level: 'info',
      context: undefined,
      line: { requestId: 'req_1', user: undefined, method: 'GET', route: '/things/:id', status: 200, ms: 12.3 },
    },
  ])
  expect(finished).toEqual([
    { method: 'GET', route: '/things/:id', status: 200, ms: expect.closeTo(12.34), left: false },
  ])
})

test('a request without a route is logged too', async () => {
  const { url, lines, logged } = await observed()
  await fetch(`${url}/nowhere`)
  await logged
  expect(lines).toMatchObject([{ level: 'info', line: { route: 'none', status: 404 } }])
})

test.each(['/health/live', '/health/ready'])('a request to %s is logged at level debug', async (path) => {
  const { url, lines, logged } = await observed()
  await fetch(url + path)
  await logged
  expect(lines).toMatchObject([{ level: 'debug', line: { route: path } }])
})

test('a request whose client disconnects is logged in one line as left', async () => {
  const arrived = Promise.withResolvers<void>()
  const { url, lines, finished, logged } = await observed(() => arrived.resolve())
  const leaving = new AbortController()
  const asking = fetch(`${url}/things/a`, { signal: leaving.signal }).catch(() => null)
  await arrived.promise
  leaving.abort()
  await asking
  await logged
  expect(lines).toMatchObject([{ line: { requestId: 'req_1', left: true } }])
  expect(finished).toMatchObject([{ left: true }])
})

test('the line is written in the asynchronous context of the response, so that it has the trace ID', async () => {
  const { url, lines, logged } = await observed((_req, res) => {
    context.run('trace of the call', () => void setImmediate(() => res.end('whole')))
  })
  await fetch(`${url}/things/a`)
  await logged
  expect(lines).toMatchObject([{ context: 'trace of the call' }])
})

test('a large response is logged once it is sent in full', async () => {
  const { url, lines, logged } = await observed(async (_req, res) => {
    res.write('x'.repeat(4 * 1024 * 1024))
    await once(res, 'drain')
    expect(lines).toEqual([])
    res.end()
  })
  const answer = await fetch(`${url}/things/a`)
  expect((await answer.text()).length).toBe(4 * 1024 * 1024)
  await logged
  expect(lines).toHaveLength(1)
  expect(lines[0]!.line).not.toHaveProperty('left')
})
