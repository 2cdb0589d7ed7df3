import { describe, expect } from 'vitest'
import { ApiRefusal, Unreachable } from './failures.ts'
import { openApiClient, type ClientOptions } from './open-api-client.ts'
import { cut, cutAfter, json, refusal, scriptedTest as test, type Step } from './scripted-server.fixture.ts'

// The client against a server that imitates failures of networks, proxies and services.

const open = ({ url }: { url: string }, options: Partial<ClientOptions> = {}) =>
  openApiClient({ baseUrl: `${url}/`, ...options })
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )
const newTenant = { body: { name: 'é' }, idempotencyKey: 'key-of-mine' }
const rotation = { params: { tenant: 'ten_1', key: 'key_1' }, body: {} }

describe('a retry', () => {
  test('repeats a GET after the connection was cut before or within the response', async ({ server }) => {
    server.answers(cut, cutAfter('{"id":'), json({ id: 'usr_1' }))
    expect(await open(server).ask('GET', '/api/v2/me')).toEqual({ id: 'usr_1' })
    expect(server.requests).toHaveLength(3)
  })

  test('repeats a creation with the same idempotency key and the same bytes', async ({ server }) => {
    server.answers(cutAfter('{'), refusal('unavailable', 503), json({ id: 'ten_1' }, 201))
    expect(await open(server).ask('POST', '/api/v2/tenants', newTenant)).toEqual({ id: 'ten_1' })
    const sent = server.requests.map(({ headers, body }) => [headers['idempotency-key'], headers['content-type'], body])
    expect(sent).toEqual(Array.from({ length: 3 }, () => ['key-of-mine', 'application/json', '{"name":"é"}']))
  })

  test('happens at most twice', async ({ server }) => {
    server.answers(cut, cut, cut, json({}))
    const failure = await failureOf(open(server).ask('GET', '/api/v2/me'))
    expect(failure).toBeInstanceOf(Unreachable)
    expect(failure).toMatchObject({ name: 'Unreachable', status: null, cause: expect.any(Error) })
    expect(server.requests).toHaveLength(3)
  })

  test('waits as long as the service asks [overloaded]', async ({ server }) => {
    server.answers(refusal('overloaded', 503, { 'retry-after': '1' }), json({ id: 'usr_1' }))
    await open(server).ask('GET', '/api/v2/me')
    const [first, second] = server.requests
    expect(second!.atMs - first!.atMs).toBeGreaterThan(990)
  })

  test('repeats a request to which a proxy responded instead of the service', async ({ server }) => {
    const page: Step = (res) => res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>')
    server.answers(page, json({ id: 'usr_1' }))
    expect(await open(server).ask('GET', '/api/v2/me')).toEqual({ id: 'usr_1' })
  })
})

describe('the client does not retry', () => {
  test.for<[string, Step, object]>([
    [
      'a request that the service says not to retry',
      refusal('internal_error', 500, { 'x-should-retry': 'false' }),
      { status: 500 },
    ],
    ['a refusal that the caller has to clear', refusal('not_found', 404), { code: 'not_found', status: 404 }],
    ['a refusal with a wait over a minute', refusal('rate_limited', 429, { 'retry-after': '61' }), { status: 429 }],
    ['a refusal by a proxy', (res) => res.writeHead(403).end('who are you?'), { name: 'Unreachable', status: 403 }],
  ])('%s', async ([, step, expected], { server }) => {
    server.answers(step, json({}))
    expect(await failureOf(open(server).ask('GET', '/api/v2/me'))).toMatchObject(expected)
    expect(server.requests).toHaveLength(1)
  })

  test('a change without an idempotency key', async ({ server }) => {
    server.answers(cut)
    const work = open(server).ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', rotation)
    expect(await failureOf(work)).toBeInstanceOf(Unreachable)
    expect(server.requests).toHaveLength(1)
  })

  test('an aborted request, whether the server stalls or a retry is waiting', async ({ server }) => {
    const leaving = new AbortController()
    const gone = new Error('enough')
    server.answers(() => leaving.abort(gone))
    expect(await failureOf(open(server).ask('GET', '/api/v2/me', { signal: leaving.signal }))).toBe(gone)

    const later = new AbortController()
    server.answers((res, req) => {
      refusal('overloaded', 503, { 'retry-after': '30' })(res, req)
      res.on('finish', () => later.abort(gone))
    })
    expect(await failureOf(open(server).ask('GET', '/api/v2/me', { signal: later.signal }))).toBe(gone)
    expect(await failureOf(open(server).ask('GET', '/api/v2/me', { signal: later.signal }))).toBe(gone)
    expect(server.requests).toHaveLength(2)
  })
})

describe('a response', () => {
  test('that is a refusal rejects with all its fields', async ({ server }) => {
    server.answers(refusal('key_limit', 403))
    const failure = await failureOf(open(server).ask('GET', '/api/v2/me'))
    expect(failure).toBeInstanceOf(ApiRefusal)
    expect(failure).toMatchObject({
      name: 'ApiRefusal',
      status: 403,
      code: 'key_limit',
      message: 'It is key_limit.',
      resolution: 'Do something.',
      type: 'api_error',
      details: { code: 'key_limit' },
      param: null,
      requestId: 'req_1',
    })
  })

  test('without a body resolves to undefined, and spaces before a body are ignored', async ({ server }) => {
    server.answers(
      (res) => res.writeHead(204).end(),
      (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('  \n{"id":"usr_1"}'),
    )
    expect(await open(server).ask('DELETE', '/api/v2/session')).toBeUndefined()
    expect(await open(server).ask('GET', '/api/v2/me')).toEqual({ id: 'usr_1' })
  })

  test('that is an HTML page rejects as unreachable', async ({ server }) => {
    server.answers((res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to this network</h1>'))
    const failure = await failureOf(open(server).ask('GET', '/api/v2/me'))
    expect(failure).toMatchObject({ name: 'Unreachable', status: 200 })
  })

  test('is returned unchanged by raw(), unless it is a refusal', async ({ server }) => {
    server.answers(
      (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 2, 255])),
      refusal('asset_not_found', 404),
    )
    const bytes = () => open(server).raw('GET', '/v1/assets/{id}', { params: { id: 'ast_1' } })
    const answer = await bytes()
    expect([answer.headers.get('content-type'), ...(await answer.bytes())]).toEqual(['image/png', 1, 2, 255])
    expect(await failureOf(bytes())).toMatchObject({ code: 'asset_not_found' })
  })
})

describe('a request', () => {
  test('encodes its parameters and its query', async ({ server }) => {
    server.answers(json({}), json({}))
    await open(server).ask('GET', '/v1/models/{id}', { params: { id: 'acme/swift é' } })
    const query = { limit: 5, cursor: 'a&b', from: undefined }
    await open(server).ask('GET', '/api/v2/tenants/{tenant}/audit', { params: { tenant: 'ten_1' }, query })
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/models/acme%2Fswift%20%C3%A9',
      '/api/v2/tenants/ten_1/audit?limit=5&cursor=a%26b',
    ])
  })

  test.for(['', '.', '..', undefined as never])(
    'with the parameter %j is not sent, because the path would change',
    async (id, { server }) => {
      expect(await failureOf(open(server).ask('GET', '/v1/models/{id}', { params: { id } }))).toBeInstanceOf(TypeError)
      expect(server.requests).toEqual([])
    },
  )

  test('has the headers of the client, evaluated per attempt, and lets its own override them', async ({ server }) => {
    server.answers(refusal('unavailable', 503), json({}), json({}))
    let token = 0
    const api = open(server, { headers: async () => ({ authorization: `Bearer ${++token}` }) })
    await api.ask('GET', '/api/v2/me')
    await api.ask('GET', '/api/v2/me', { headers: { Authorization: 'Bearer mine' } })
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2', 'Bearer mine'])
    expect(server.requests[0]!.headers.accept).toBe('application/json')
  })

  test('goes to the origin of the page if there is no base URL', async () => {
    const asked: unknown[] = []
    const answer: ClientOptions['fetch'] = async (url) => {
      asked.push(url)
      return Response.json({})
    }
    await openApiClient({ baseUrl: '', fetch: answer }).ask('GET', '/api/v2/me')
    expect(asked).toEqual(['/api/v2/me'])
  })

  test('sends bytes unchanged', async ({ server }) => {
    server.answers(json({}, 201))
    await open(server).ask('POST', '/v1/assets', { body: new Uint8Array([104, 105]), contentType: 'image/png' })
    const [{ headers, body }] = server.requests as [(typeof server.requests)[number]]
    expect([headers['content-type'], body]).toEqual(['image/png', 'hi'])
  })
})

describe('stream()', () => {
  const follow = ({ url }: { url: string }) =>
    open({ url }).stream('GET', '/v1/executions/{id}/progress', { params: { id: 'exe_1' } })
  const line = (seq: number) => `${JSON.stringify({ kind: 'node', seq })}\n`

  test('yields the lines before a cut connection, and does not retry after the first', async ({ server }) => {
    server.answers(cutAfter(`${line(0)}${line(1)}{"kind":`, 'application/x-ndjson'))
    const seen: number[] = []
    const work = (async () => {
      for await (const line of follow(server)) seen.push('seq' in line ? line.seq : -1)
    })()
    expect(await failureOf(work)).toMatchObject({ name: 'Unreachable', status: null })
    expect([seen, server.requests.length]).toEqual([[0, 1], 1])
    expect(server.requests[0]!.headers.accept).toBe('application/x-ndjson')
  })

  test('retries if no line has arrived', async ({ server }) => {
    server.answers(cut, (res) => res.end(line(0)))
    expect(await Array.fromAsync(follow(server))).toEqual([{ kind: 'node', seq: 0 }])
  })

  test('closes the connection when its reader leaves the loop', async ({ server }) => {
    const closed = Promise.withResolvers<void>()
    server.answers((res) => {
      res.on('close', closed.resolve)
      res.write(line(0))
    })
    for await (const { kind } of follow(server)) {
      expect(kind).toBe('node')
      break
    }
    await closed.promise
  })

  test('rejects with the reason of an aborted signal', async ({ server }) => {
    const leaving = new AbortController()
    const gone = new Error('enough')
    server.answers((res) => res.write(line(0)))
    const lines = open(server).stream('GET', '/v1/executions/{id}/progress', {
      params: { id: 'exe_1' },
      signal: leaving.signal,
    })
    const work = (async () => {
      for await (const _ of lines) leaving.abort(gone)
    })()
    expect(await failureOf(work)).toBe(gone)
  })

  test('rejects if the service refuses [execution_not_found]', async ({ server }) => {
    server.answers(refusal('execution_not_found', 404))
    expect(await failureOf(follow(server).next())).toMatchObject({ code: 'execution_not_found' })
  })
})

describe('pages()', () => {
  const members = '/api/v2/tenants/{tenant}/members'
  test('continues through short and empty pages to the end', async ({ server }) => {
    server.answers(
      json({ data: [1, 2], nextCursor: 'a' }),
      json({ data: [], nextCursor: 'b' }),
      json({ data: [3], nextCursor: null }),
    )
    const pages = open(server).pages(members, { params: { tenant: 't' }, query: { limit: 2 } })
    expect((await Array.fromAsync(pages)).map(({ data }) => data)).toEqual([[1, 2], [], [3]])
    expect(server.requests.map(({ url }) => url.slice(url.indexOf('?')))).toEqual([
      '?limit=2',
      '?limit=2&cursor=a',
      '?limit=2&cursor=b',
    ])
  })

  test('starts at the given cursor, and requests each page only when needed', async ({ server }) => {
    server.answers(json({ data: [1], nextCursor: 'b' }))
    for await (const { nextCursor } of open(server).pages(members, {
      params: { tenant: 't' },
      query: { cursor: 'a' },
    })) {
      expect(nextCursor).toBe('b')
      break
    }
    expect(server.requests.map(({ url }) => url)).toEqual(['/api/v2/tenants/t/members?cursor=a'])
  })
})
