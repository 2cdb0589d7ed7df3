import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from './console.fixture.ts'

test('unknown fields are refused by name [invalid_request]', async ({ stack }) => {
  const answer = await stack.owner.post(`${stack.path}/teams`, { name: 'A team', colour: 'red' })
  expect(outcomeOf(answer)).toBe('400 invalid_request')
  expect(answer.body.error).toMatchObject({ param: 'colour', type: 'invalid_request_error' })
})

test.for([
  ['broken JSON', '{"name": ', '400 invalid_json'],
  ['no object', '[]', '400 invalid_json'],
  ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), '400 invalid_json'],
  ['a control character', '{"name": "a\\u0000b"}', '400 invalid_request'],
  ['half a character', '{"name": "\\ud800"}', '400 invalid_request'],
  ['nothing where something must be', '{"name": ""}', '400 invalid_request'],
  ['too much', JSON.stringify({ name: 'x'.repeat(300_000) }), '413 request_too_large'],
] as const)('a body with %s is refused before anything is written', async ([, body, refusal], { stack, console }) => {
  const answer = await fetch(`${console.url}${stack.path}/teams`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stack.owner.token}` },
    body,
  })
  expect(outcomeOf({ status: answer.status, body: await answer.json(), headers: answer.headers })).toBe(refusal)
  expect((await stack.owner.get(`${stack.path}/teams`)).body.data).toHaveLength(1)
})

test.for(['%00', '%ff', '%zz', 'a'.repeat(129), "' OR 1=1"])(
  'answers 404 to an ID of another form [not_found]: %s',
  async (id, { stack }) => {
    expect(outcomeOf(await stack.owner.get(`/api/v2/tenants/${id}/members`))).toBe('404 not_found')
    expect(outcomeOf(await stack.owner.get(`${stack.path}/keys/${id}`))).toBe('404 not_found')
  },
)

test('another method on a known path names those there are [method_not_allowed]', async ({ stack }) => {
  const answer = await stack.owner.patch(`${stack.path}/teams`, {})
  expect(outcomeOf(answer)).toBe('405 method_not_allowed')
  expect(answer.headers.get('Allow')).toBe('GET, POST')
})

test('the id of a request that came with one stays', async ({ console }) => {
  const answer = await fetch(`${console.url}/api/v2/me`, { headers: { 'X-Request-Id': 'req-from-before' } })
  expect(answer.headers.get('X-Request-Id')).toBe('req-from-before')
})

test('lists come in pages that meet without gap or repetition', async ({ stack }) => {
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

test('health and the page need no one; what is measured is on another port', async ({ console }) => {
  const get = (path: string) => fetch(console.url + path)
  expect((await get('/health/live')).status).toBe(200)
  expect((await get('/health/ready')).status).toBe(200)
  expect((await get('/metrics')).status).toBe(404)
  expect(await (await fetch(`${console.metricsUrl}/metrics`)).text()).toContain('target_info')
  expect(await (await get('/console')).text()).toContain('/api/v2/session')
})
