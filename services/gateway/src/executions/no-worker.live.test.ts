import { expect } from 'vitest'
import { echo, flowTest, newKey, recordOf } from '../flow-stack.fixture.ts'
import { errorOf } from '../stack.fixture.ts'

// Calls to a sandbox product while no worker is running.

const test = flowTest
  .extend('counts', { scope: 'file' }, () => ({ workers: 0 }))
  .extend('settings', { scope: 'file' }, () => ({ ledger: { CHAT_FIRST_CLAIM_SECONDS: '1' } }))

const content = 'Hello'
const messages = [{ role: 'user', content }]

test('a chat to a sandbox product is refused and its execution fails uncharged if no worker claims it in time [no_worker]', async ({
  tenant,
  flows,
}) => {
  const sandbox = await flows.save(echo)
  const answer = await tenant.chat({ model: sandbox, messages })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
  expect(answer.headers.get('x-should-retry')).toBeNull()
  const execution = answer.headers.get('x-service-invocation')
  expect(await errorOf(answer)).toMatchObject({ code: 'no_worker', details: { execution, chargedMicro: 0 } })
  expect(await recordOf(await flows.get(`/v1/executions/${execution}`))).toMatchObject({
    status: 'Failed',
    startedAt: null,
    chargedMicro: 0,
    error: { code: 'execution_timeout' },
  })
})

test('a repeated chat under one idempotency key gets the same error for the same execution [no_worker]', async ({
  tenant,
  flows,
}) => {
  const sandbox = await flows.save(echo)
  const headers = { 'idempotency-key': newKey() }
  const answers = [
    await tenant.chat({ model: sandbox, messages }, { headers }),
    await tenant.chat({ model: sandbox, messages }, { headers }),
  ]
  for (const { status, headers } of answers)
    expect([status, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([503, 'false', null])
  expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
  const [first, second] = [await errorOf(answers[0]!), await errorOf(answers[1]!)]
  expect(second).toEqual(first)
  expect(await flows.executions()).toBe(1)
})

test('a streamed chat gets 503 before its headers are sent [no_worker]', async ({ tenant, flows }) => {
  const sandbox = await flows.save(echo)
  const answer = await tenant.chat({ model: sandbox, messages, stream: true })
  expect([answer.status, (await errorOf(answer))['code']]).toEqual([503, 'no_worker'])
})

test('an invocation keeps waiting for a worker', async ({ flows, fixture }) => {
  const sandbox = await flows.save(echo)
  const leave = new AbortController()
  const invocation = flows.invoke(sandbox, { text: content }, { signal: leave.signal })
  await expect.poll(() => flows.executions()).toBe(1)
  const { rows } = await fixture.run(
    `SELECT extract(epoch FROM deadline_at - created_at)::int AS waits FROM money.executions WHERE sandbox = $1`,
    [sandbox],
  )
  expect(rows).toEqual([{ waits: 900 }])
  leave.abort()
  await expect(invocation).rejects.toThrow('aborted')
})
