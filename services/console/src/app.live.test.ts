import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from './console.fixture.ts'

test('rejects an unknown field and names it in the error [invalid_request]', async ({ stack }) => {
  const answer = await stack.owner.post(`${stack.path}/teams`, { name: 'A team', colour: 'red' })
  expect(outcomeOf(answer)).toBe('400 invalid_request')
  expect(answer.body.error).toMatchObject({ param: 'colour', type: 'invalid_request_error' })
})

test.for([
  ['broken JSON', '{"name": ', '400 invalid_json'],
  ['an array instead of an object', '[]', '400 invalid_json'],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), '400 invalid_json'],
  ['a control character', '{"name": "a\\u0000b"}', '400 invalid_request'],
  ['an unpaired surrogate', '{"name": "\\ud800"}', '400 invalid_request'],
  ['an empty required field', '{"name": ""}', '400 invalid_request'],
  ['more bytes than allowed', JSON.stringify({ name: 'x'.repeat(300_000) }), '413 request_too_large'],
] as const)('rejects a body with %s without writing anything', async ([, body, refusal], { stack, console }) => {
  const answer = await fetch(`${console.url}${stack.path}/teams`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stack.owner.token}` },
    body,
  })
  expect(outcomeOf({ status: answer.status, body: await answer.json(), headers: answer.headers })).toBe(refusal)
  expect((await stack.owner.get(`${stack.path}/teams`)).body.data).toHaveLength(1)
})

test.for(['%00', '%ff', '%zz', 'a'.repeat(129), "' OR 1=1"])(
  'responds with 404 to a malformed ID [not_found]: %s',
  async (id, { stack }) => {
    expect(outcomeOf(await stack.owner.get(`/api/v2/tenants/${id}/members`))).toBe('404 not_found')
    expect(outcomeOf(await stack.owner.get(`${stack.path}/keys/${id}`))).toBe('404 not_found')
  },
)

test('responds with 405 and an Allow header to an unsupported method on a known path [method_not_allowed]', async ({
  stack,
}) => {
  const answer = await stack.owner.patch(`${stack.path}/teams`, {})
  expect(outcomeOf(answer)).toBe('405 method_not_allowed')
  expect(answer.headers.get('Allow')).toBe('GET, POST')
})

test('responds with a generated X-Request-Id instead of the one the caller sent', async ({ console }) => {
  const answer = await fetch(`${console.url}/api/v2/me`, { headers: { 'X-Request-Id': 'req-from-before' } })
  expect(answer.headers.get('X-Request-Id')).toMatch(/^req_/)
})

test('paginates a list without gaps or duplicates', async ({ stack }) => {
  for (const name of ['b', 'c', 'd', 'e']) await stack.owner.post(`${stack.path}/teams`, { name })
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await stack.owner.get(`${stack.path}/teams?limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
  }
  expect(seen).toHaveLength(5)
  expect(new Set(seen).size).toBe(5)
  expect(outcomeOf(await stack.owner.get(`${stack.path}/teams?limit=2&limit=3`))).toBe('400 invalid_request')
  expect(outcomeOf(await stack.owner.get(`${stack.path}/audit?cursor=x`))).toBe('400 invalid_request')
})

test('serves health checks and the page without authentication, and metrics only on a separate port', async ({
  console,
}) => {
  const get = (path: string) => fetch(console.url + path)
  expect((await get('/health/live')).status).toBe(200)
  expect((await get('/health/ready')).status).toBe(200)
  expect((await get('/metrics')).status).toBe(404)
  expect(await (await fetch(`${console.metricsUrl}/metrics`)).text()).toContain('target_info')
  expect(await (await get('/console')).text()).toContain('/api/v2/session')
})
