import { expect } from 'vitest'
import { echo, flowTest, newKey, PROGRESS } from '../flow-stack.fixture.ts'
import { errorOf } from '../stack.fixture.ts'

const test = flowTest.extend('settings', { scope: 'file' }, () => ({
  gateway: { RATES: JSON.stringify({ key: { requests: 3, seconds: 600 } }) },
}))

test('a key at its rate limit starts no new execution but still gets replays of earlier ones [rate_limited]', async ({
  flows,
}) => {
  const sandbox = await flows.save(echo)
  const first = newKey()
  const invoke = (idempotencyKey: string) =>
    flows.invoke(sandbox, { text: 'Hello' }, { headers: { 'idempotency-key': idempotencyKey } })
  const bytes = await (await invoke(first)).text()
  for (let n = 0; n < 2; n++) expect((await invoke(newKey())).status).toBe(200)
  const refused = await invoke(newKey())
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(await errorOf(refused)).toMatchObject({ code: 'rate_limited', details: { scope: 'key' } })
  for (let n = 0; n < 5; n++) {
    const again = await invoke(first)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(await again.text()).toBe(bytes)
  }
})

test('the response that starts an execution carries the limit of its key, on every road', async ({ flows, tenant }) => {
  const sandbox = await flows.save(echo, { mcpEnabled: true })
  const limitIn = ({ headers }: Response) =>
    ['limit', 'remaining', 'reset'].map((part) => headers.get(`x-ratelimit-${part}-requests`))
  const replayed = newKey()
  const invoked = await flows.invoke(
    sandbox,
    { text: 'Hello' },
    { headers: { ...PROGRESS, 'idempotency-key': replayed } },
  )
  expect(limitIn(invoked)).toEqual(['3', '2', expect.stringMatching(/^\d+m\d+s$/)])
  const asModel = await tenant.chat({ model: sandbox })
  expect(limitIn(asModel).slice(0, 2)).toEqual(['3', '1'])
  const tool = await fetch(`${tenant.url}/v1/sandbox/${sandbox}/mcp`, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'invoke_product', arguments: { text: 'Hello' } },
    }),
    headers: {
      ...tenant.headers,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      'idempotency-key': newKey(),
    },
  })
  expect(limitIn(tool).slice(0, 2)).toEqual(['3', '0'])
  const repeat = await flows.invoke(sandbox, { text: 'Hello' }, { headers: { 'idempotency-key': replayed } })
  expect([repeat.status, limitIn(repeat)]).toEqual([200, [null, null, null]])
})
