import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { followLines, type NumberedLine } from './follow-lines.ts'
import { openApiClient } from './open-api-client.ts'
import { json, refusal, scriptedTest as test, type Step } from './scripted-server.fixture.ts'

// The client against responses that our services never send, and against callers who pass values that can't be sent.

const open = ({ url }: { url: string }, headers = {}, more = {}) => openApiClient({ baseUrl: url, headers, ...more })
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )
const lines =
  (text: string, type = 'application/x-ndjson'): Step =>
  (res) =>
    res.writeHead(200, { 'content-type': type }).end(text)
const follow = (server: { url: string }, signal?: AbortSignal, more = {}) =>
  followLines<NumberedLine>({
    begin: null,
    execution: 'exe_1',
    signal,
    goOn: (id, after, fields) =>
      open(server, {}, more).raw('GET', '/v1/executions/{id}/progress', {
        params: { id },
        query: { after },
        ...fields,
      }),
  })

/** Responds after the clock has moved on by a minute. */
function inAMinute(step: Step): Step {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return (res, req) => {
    vi.setSystemTime(Date.now() + 60_001)
    step(res, req)
  }
}

test.for([301, 302, 303, 307, 308])(
  'does not follow a redirect with %i, so neither the body nor the secret leaves',
  async (status, { server }) => {
    const location = `${server.url.replace('127.0.0.1', 'localhost')}/elsewhere`
    server.answers((res) => res.writeHead(status, { location }).end(), json({ id: 'ten_1' }))
    const work = open(server, { authorization: 'Bearer svu_1' }).ask('POST', '/api/v2/tenants', {
      body: { name: 't' },
      idempotencyKey: 'abcdefgh',
    })
    expect(await failureOf(work)).toMatchObject({ status, message: expect.stringContaining(location) as string })
    expect(server.requests).toHaveLength(1)
  },
)

test('reads a refusal that leaves out required fields', async ({ server }) => {
  const bare = { message: 'The service refuses.', resolution: expect.any(String) as string, param: null, details: {} }
  server.answers(
    json({ error: { code: 'not_found' } }, 404),
    json({ error: { code: 'a', message: 5, param: {} } }, 400),
  )
  const ask = () => failureOf(open(server).ask('GET', '/api/v2/me'))
  expect(await ask()).toMatchObject({ name: 'ApiRefusal', code: 'not_found', ...bare })
  expect(await ask()).toMatchObject({ name: 'ApiRefusal', code: 'a', ...bare })
  for (const other of [null, [], 'no', { error: null }, { error: 'no' }, { error: { code: 5 } }]) {
    server.answers(json(other, 400))
    expect(await ask()).toMatchObject({ name: 'Unreachable', status: 400 })
  }
})

test.for([
  ['10000000000', 1e13],
  [new Date('2126-01-01').toUTCString(), Date.parse('2126-01-01') - Date.now()],
  ['-5', null],
  ['soon', null],
  ['1.5', null],
] as const)('reads Retry-After: %s as %s', async ([after, afterMs], { server }) => {
  server.answers(refusal('rate_limited', 429, { 'retry-after': after, 'x-should-retry': 'false' }))
  const failure = (await failureOf(open(server).ask('GET', '/api/v2/me'))) as { again: { afterMs: number | null } }
  if (afterMs === null) expect(failure.again.afterMs).toBeNull()
  else expect(failure.again.afterMs! / afterMs).toBeCloseTo(1, 3)
})

test.for(['a', undefined])('stops paging if the next cursor is %j again', async (nextCursor, { server }) => {
  const page = json({ data: [1], nextCursor })
  server.answers(page, page, page)
  const pages = open(server).pages('/api/v2/tenants/{tenant}/members', { params: { tenant: 't' } })
  expect(await failureOf(Array.fromAsync(pages))).toMatchObject({ name: 'Unreachable' })
  expect(server.requests.length).toBeLessThan(3)
})

describe('following ends without a retry if the response is', () => {
  test.for([
    ['an HTML page', '<h1>Sign in to this network</h1>', 'text/html'],
    ['not JSON', 'nonsense\n'],
    ['not a line of the API', 'null\n'],
    ['a line without a number', '{"kind":"node"}\n'],
    ['an empty refusal', '{"kind":"refused"}\n'],
  ])('%s', async ([, text, type], { server }) => {
    server.answers(lines(text!, type))
    expect(await failureOf(follow(server).next())).toMatchObject({ name: 'Unreachable', again: { worth: false } })
    expect(server.requests).toHaveLength(1)
  })

  test('a line that never ends', async ({ server }) => {
    server.answers((res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' })
      const part = Buffer.alloc(2 ** 20, 'x')
      const more = () => void res.write(part, (error) => error ?? more())
      more()
    })
    expect(await failureOf(follow(server).next())).toMatchObject({ message: 'A line of the answer has no end.' })
  })

  test('a refusal that asks for a longer wait than two minutes [rate_limited]', async ({ server }) => {
    server.answers(refusal('rate_limited', 429, { 'retry-after': '3600' }))
    expect(await failureOf(follow(server).next())).toMatchObject({ code: 'rate_limited' })
    expect(server.requests).toHaveLength(1)
  })
})

test('following requests a missing line for two minutes, and no longer', async ({ server }) => {
  const gap = inAMinute(lines('{"kind":"node","seq":1}\n'))
  server.answers(gap, gap)
  expect(await failureOf(follow(server).next())).toMatchObject({ message: 'Line 0 of the progress is missing.' })
  expect(server.requests).toHaveLength(2)
})

describe('following ends after two minutes of answers that are', () => {
  test.for<[string, Step, string]>([
    ['empty', lines(''), 'The progress ends before its last line.'],
    [
      'lines already received',
      lines('{"kind":"admitted","seq":0,"executionId":"exe_1"}\n'),
      'The progress ends before its last line.',
    ],
    ['cut within a line', lines('{"kind":"comp'), 'The response was truncated.'],
  ])('%s', async ([, step, message], { server }) => {
    const later = inAMinute(step)
    server.answers(later, later, later, later)
    expect(await failureOf(Array.fromAsync(follow(server)))).toMatchObject({ name: 'Unreachable', message })
  })
})

describe('a service that sends no headers', () => {
  const silent: Step = () => {}
  const soon = { headersMs: 50 }
  const once = { idempotencyKey: 'abcdefgh', isRepeatable: false }
  const execution = { params: { id: 'sbx-1' }, body: { input: {} }, ...once }

  test('is followed for two minutes', async ({ server }) => {
    const later = inAMinute(silent)
    server.answers(later, later, later, later)
    const end = await failureOf(follow(server, undefined, soon).next())
    expect(end).toMatchObject({ name: 'Unreachable', message: 'The service did not respond in time.' })
    expect(server.requests).toHaveLength(2)
  })

  test.for<[string, (api: ReturnType<typeof open>) => Promise<unknown>]>([
    ['a read', (api) => api.ask('GET', '/api/v2/me', { isRepeatable: false })],
    ['lines', (api) => api.stream('POST', '/v1/sandbox/{id}/invoke', execution).next()],
  ])('is unreachable for %s', async ([, ask], { server }) => {
    server.answers(silent)
    const end = await failureOf(ask(open(server, {}, soon)))
    expect(end).toMatchObject({ name: 'Unreachable', again: { worth: true } })
  })

  test('may be at work on an answer that is not a stream', async ({ server }) => {
    const asked = Promise.withResolvers<ServerResponse>()
    server.answers((res) => asked.resolve(res))
    const working = open(server, {}, soon).ask('POST', '/v1/sandbox/{id}/invoke', execution)
    const res = await asked.promise
    server.answers(silent)
    await failureOf(open(server, {}, soon).ask('GET', '/api/v2/me', { isRepeatable: false }))
    json({ id: 'exe_1' })(res, res.req)
    expect(await working).toEqual({ id: 'exe_1' })
  })

  test('ends a request at once with the reason of its signal', async ({ server }) => {
    const leaving = new AbortController()
    server.answers(() => leaving.abort(new Error('enough')))
    const { signal } = leaving
    expect(await failureOf(open(server).ask('GET', '/api/v2/me', { signal }))).toBe(signal.reason)
  })
})

test('following continues over answers that were kept open without a line', async ({ server }) => {
  const kept = inAMinute(lines(' '))
  server.answers(kept, kept, kept, lines('{"kind":"complete","seq":0}\n'))
  expect(await Array.fromAsync(follow(server))).toEqual([{ kind: 'complete', seq: 0 }])
})

test('following yields lines of an unknown kind, and ends at the first final line', async ({ server }) => {
  const reported = [
    { kind: 'new', seq: 0 },
    { kind: 'complete', seq: 1 },
  ]
  server.answers(lines([...reported, { kind: 'complete', seq: 2 }].map((line) => `${JSON.stringify(line)}\n`).join('')))
  expect(await Array.fromAsync(follow(server))).toEqual(reported)
})

test('leaving the loop between two lines closes the connection', async ({ server }) => {
  const closed = Promise.withResolvers<void>()
  server.answers((res) => {
    res.on('close', closed.resolve)
    res.write('{"kind":"admitted","seq":0,"executionId":"exe_1"}\n')
  })
  for await (const { seq } of follow(server)) {
    expect(seq).toBe(0)
    break
  }
  await closed.promise
})

describe('no request is sent', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  test.for<[string, unknown]>([
    ['NaN', { n: Number.NaN }],
    ['Infinity', { n: Infinity }],
    ['a BigInt', { n: 1n }],
    ['a cycle', circular],
  ])('if the body has %s', async ([, name], { server }) => {
    const work = open(server).ask('POST', '/api/v2/tenants', { body: { name } as never, idempotencyKey: 'abcdefgh' })
    expect(await failureOf(work)).toBeInstanceOf(TypeError)
    expect(server.requests).toEqual([])
  })

  test('if a header value is invalid, and the error does not reveal it', async ({ server }) => {
    const failure = await failureOf(open(server, { authorization: 'Bearer a\nsecret' }).ask('GET', '/api/v2/me'))
    expect(failure).toEqual(new TypeError('The header authorization has characters that no header has.'))
  })

  test('if the signal is already aborted', async ({ server }) => {
    const signal = AbortSignal.abort(new Error('enough'))
    expect(await failureOf(follow(server, signal).next())).toBe(signal.reason)
    expect(server.requests).toEqual([])
  })
})
