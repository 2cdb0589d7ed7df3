import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import { errorOf, stackTest as test, newPrompt } from '../stack.fixture.ts'

const UNKNOWN_SVC_KEY = 'svc_' + '0'.repeat(49)

/** Posts headers unchanged, including duplicates, which `fetch` would join. */
async function post(url: string, headers: string[], body: string) {
  const req = request(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: ['Content-Length', String(body.length), ...headers],
  })
  req.end(body)
  const [res] = await once(req, 'response')
  return { status: res.statusCode as number, error: JSON.parse(await text(res)).error }
}

/** Sends raw bytes and returns the response. */
async function raw(
  url: string,
  bytes: string,
): Promise<{ status: number; head: string; error: { code: string; resolution: string } }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  const [head = '', body] = (await text(socket)).split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, error: JSON.parse(body!).error }
}

test('a path with a malformed escape is refused [invalid_request]', async ({ tenant }) => {
  const answer = await fetch(`${tenant.url}/v1/models/%E0%A4%A`, { headers: tenant.headers })
  expect([answer.status, (await errorOf(answer))['code']]).toEqual([400, 'invalid_request'])
})

describe('a refused call reserves nothing and gets a resolution', () => {
  // spec: 0/s3, 1/s1, 1/s10, 2.2/r12, 4/s1, 4/s2, 4.2/r5, 4.2/r14, 4.2/s5, 4.5/r1, 4.5/r2, 5/s1, 5/s8, 7/r3, 7/r8, 7/s4
  // spec: 8.1/r2
  test.for([
    { title: 'no key [key_missing]', headers: { authorization: '' }, status: 401, code: 'key_missing' },
    {
      title: 'another Authorization scheme [key_missing]',
      headers: { authorization: 'Basic Zm9v' },
      status: 401,
      code: 'key_missing',
    },
    {
      title: 'a malformed key [key_invalid]',
      headers: { authorization: 'Bearer svc_nonsense' },
      status: 401,
      code: 'key_invalid',
    },
    {
      title: 'a key with a wrong checksum [key_invalid]',
      headers: { authorization: `Bearer ${UNKNOWN_SVC_KEY}` },
      status: 401,
      code: 'key_invalid',
    },
    {
      title: 'a user’s token [key_invalid]',
      headers: { authorization: `Bearer svu_${'A'.repeat(49)}` },
      status: 401,
      code: 'key_invalid',
    },
    {
      title: 'a body that is not UTF-8 [invalid_json]',
      body: Buffer.from('{"model":"\xff', 'latin1'),
      status: 400,
      code: 'invalid_json',
    },
    { title: 'broken JSON [invalid_json]', body: '{"model": ', status: 400, code: 'invalid_json' },
    { title: 'an empty body [invalid_json]', body: '', status: 400, code: 'invalid_json' },
    {
      title: 'deep nesting [invalid_json]',
      body: '['.repeat(10_000) + ']'.repeat(10_000),
      status: 400,
      code: 'invalid_json',
    },
    { title: 'a body that is not an object [invalid_request]', body: '[1]', status: 400, code: 'invalid_request' },
    {
      title: 'a body over 512 KiB [request_too_large]',
      body: ' '.repeat(512 * 1024 + 1),
      status: 413,
      code: 'request_too_large',
    },
    {
      title: 'a short idempotency key [idempotency_key_invalid]',
      headers: { 'idempotency-key': 'short' },
      status: 400,
      code: 'idempotency_key_invalid',
    },
    {
      title: 'an encoded body [invalid_request]',
      headers: { 'content-encoding': 'gzip' },
      status: 400,
      code: 'invalid_request',
    },
    {
      title: 'another project in a header [project_mismatch]',
      headers: { 'x-service-project': 'prj_other' },
      status: 403,
      code: 'project_mismatch',
    },
    {
      title: 'an empty project header [project_mismatch]',
      headers: { 'x-project-id': '' },
      status: 403,
      code: 'project_mismatch',
    },
  ])('$title', async ({ headers, body, status, code }, { tenant }) => {
    const answer = await tenant.chat({}, { ...(headers && { headers }), ...(body !== undefined && { body }) })
    expect(answer.status).toBe(status)
    const text = await answer.text()
    expect(JSON.parse(text)).toMatchObject({ error: { code, resolution: expect.stringMatching(/\w/) } })
    expect(text).not.toMatch(/\.ts:\d+|node_modules|at [A-Za-z]+ \(/)
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  // spec: 0/s3, 1/s1, 1/s10, 2.2/r12, 4/s1, 4/s2, 4.2/r5, 4.2/r14, 4.2/s5, 4.5/r1, 4.5/r2, 5/s1, 5/s8, 7/r3, 7/r8, 7/s4
  // spec: 8.1/r2
  test.for([
    {
      title: 'another project in the body [project_mismatch]',
      fields: { project_id: 'prj_other' },
      status: 403,
      code: 'project_mismatch',
    },
    {
      title: 'an unknown model [model_not_found]',
      fields: { model: 'acme/none' },
      status: 404,
      code: 'model_not_found',
    },
    {
      title: 'a model ID that Postgres cannot store [model_not_found]',
      fields: { model: 'a\0b' },
      status: 404,
      code: 'model_not_found',
    },
    {
      title: 'a field over its maximum [invalid_request]',
      fields: { temperature: 2.01 },
      status: 400,
      code: 'invalid_request',
    },
    {
      title: 'a parameter that the model does not support [invalid_request]',
      fields: { logprobs: true },
      status: 400,
      code: 'invalid_request',
    },
    {
      title: 'max_tokens above the maximum of the model [context_limit]',
      fields: { max_tokens: 8192 },
      status: 422,
      code: 'context_limit',
    },
  ])('$title', async ({ fields, status, code }, { tenant }) => {
    const model = await tenant.sell({ maxOutputTokens: 4096 })
    const answer = await tenant.chat({ model, ...fields })
    expect(answer.status).toBe(status)
    expect(await errorOf(answer)).toMatchObject({ code, resolution: expect.stringMatching(/\w/) })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  test('a revoked and an expired key [key_revoked, key_expired]', async ({ tenant }) => {
    for (const [code, options] of [
      ['key_revoked', { revoked: true }],
      ['key_expired', { expiresInMs: -1_000 }],
    ] as const) {
      const { secret } = await tenant.key(options)
      const answer = await tenant.chat({}, { headers: { authorization: `Bearer ${secret}` } })
      expect(answer.status).toBe(401)
      expect(await errorOf(answer)).toMatchObject({ code })
    }
  })

  // spec: 7/r7
  test('a call over the spending limit of its key, with the time the window resets [key_limit]', async ({ tenant }) => {
    const { secret } = await tenant.key({ limit: { micro: 1_000n, reset: 'daily' } })
    const answer = await tenant.chat({ max_tokens: 1000 }, { headers: { authorization: `Bearer ${secret}` } })
    expect(answer.status).toBe(403)
    expect(await errorOf(answer)).toMatchObject({
      code: 'key_limit',
      details: {
        limitMicro: 1_000,
        spentMicro: 0,
        reservedMicro: 0,
        neededMicro: expect.any(Number),
        resetsAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/),
      },
    })
  })

  // spec: 5/s13, 7/s1
  test('a call that the wallet cannot cover [insufficient_budget]', async ({ tenant }) => {
    const model = await tenant.sell({ requestPico: 2_000_000_000_000n })
    const answer = await tenant.chat({ model })
    expect(answer.status).toBe(402)
    expect(await errorOf(answer)).toMatchObject({
      code: 'insufficient_budget',
      details: { availableMicro: 1_000_000, reservedMicro: 0, neededMicro: 2_000_000, affordableMaxTokens: 0 },
    })
  })

  test.for(['Authorization', 'Idempotency-Key', 'X-Service-Project', 'X-Project-ID'])(
    '%s sent twice [duplicate_header]',
    async (name, { tenant }) => {
      const values: Record<string, string> = {
        Authorization: `Bearer ${tenant.secret}`,
        'Idempotency-Key': newPrompt(),
      }
      const value = values[name] ?? tenant.project
      const others = name === 'Authorization' ? [] : ['Authorization', `Bearer ${tenant.secret}`]
      const { status, error } = await post(tenant.url, [...others, name, value, name.toLowerCase(), value], '{}')
      expect(status).toBe(400)
      expect(error).toMatchObject({ code: 'duplicate_header', message: expect.stringContaining(name) })
    },
  )
})

describe('paths and methods', () => {
  test.for([
    ['GET', '/v1/chat/completions', 405, 'method_not_allowed', 'POST'],
    ['DELETE', '/v1/models', 405, 'method_not_allowed', 'GET'],
    ['GET', '/v1/responses', 405, 'method_not_allowed', 'POST'],
    ['POST', '/v1/completions', 404, 'not_found', null],
    ['POST', '/v1/moderations', 404, 'not_found', null],
    ['GET', '/.well-known/oauth-protected-resource', 404, 'not_found', null],
  ] as const)('%s %s returns %i [%s]', async ([method, path, status, code, allow], { tenant }) => {
    const answer = await fetch(tenant.url + path, { method, headers: tenant.headers })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('allow')).toBe(allow)
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const error = await errorOf(answer)
    expect(error).toMatchObject({ code })
    if (status === 404) expect(error['resolution']).toContain('/v1/chat/completions')
  })
})

test('GET / leads a browser to the console and a program to the documentation', async ({ tenant }) => {
  const at = async (accept: string) => {
    const answer = await fetch(`${tenant.url}/`, { headers: { accept }, redirect: 'manual' })
    return [answer.status, answer.headers.get('location')]
  }
  expect(await at('text/html,application/xhtml+xml,*/*;q=0.8')).toEqual([302, '/console'])
  expect(await at('*/*')).toEqual([302, '/llms.txt'])
})

describe('malformed HTTP gets an error of the usual shape', () => {
  test('for bytes that are not HTTP, oversized headers and a broken chunk', async ({ tenant }) => {
    const key = `Host: here\r\nAuthorization: Bearer ${tenant.secret}\r\n`
    const all = [
      'nonsense\r\n\r\n',
      `GET /v1/models HTTP/1.1\r\n${key}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      `POST /v1/chat/completions HTTP/1.1\r\n${key}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ]
    for (const bytes of all) {
      const { status, head, error } = await raw(tenant.url, bytes)
      expect(status).toBe(400)
      expect(head).toContain('X-Content-Type-Options: nosniff')
      expect(error).toMatchObject({ code: 'invalid_request', resolution: expect.stringMatching(/\w/) })
    }
  })

  test('for a Content-Length over the body limit, before the body arrives [request_too_large]', async ({ tenant }) => {
    const key = `Host: here\r\nAuthorization: Bearer ${tenant.secret}\r\nConnection: close\r\n`
    const bytes = `POST /v1/chat/completions HTTP/1.1\r\n${key}Content-Length: 100000000\r\n\r\n{`
    const { status, error } = await raw(tenant.url, bytes)
    expect([status, error.code]).toEqual([413, 'request_too_large'])
  })

  test('for an endless chunked body, and the connection is closed [request_too_large]', async ({ tenant }) => {
    const { hostname, port } = new URL(tenant.url)
    const socket = connect(Number(port), hostname)
    const [first, closed] = [once(socket, 'data'), new Promise((resolve) => socket.once('close', resolve))]
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    const sendMore = () => {
      while (socket.write(chunk)) continue
    }
    socket.on('error', () => {}).on('drain', sendMore)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer ${tenant.secret}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    sendMore()
    const [answer] = await first
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 [^]*"code":"request_too_large"/)
    await closed
  })
})
