import { expect } from 'vitest'
import { echo, flowTest, newKey } from '../flow-stack.fixture.ts'
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
