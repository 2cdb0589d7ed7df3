import { expect } from 'vitest'
import { chain, flowTest, recordOf } from '../../../flow-stack.fixture.ts'
import { newPrompt } from '../../../stack.fixture.ts'

// The project may have one call at a time.
const test = flowTest.extend('settings', { scope: 'file' }, () => ({
  gateway: { MAX_CONCURRENT_CALLS_PER_PROJECT: '1' },
}))

test('a project whose calls hold all of its permits can cancel them [overloaded] [execution_cancelled]', async ({
  stack,
  tenant,
  flows,
  fixture,
}) => {
  const text = newPrompt()
  const sandbox = await flows.save(chain(tenant.model))
  await stack.provider.control.setFaults([{ prompt: text, hold: true }])
  const waiter = flows.invoke(sandbox, { text })
  await stack.provider.control.waitForCalls(1, { prompt: text })
  expect((await flows.invoke(sandbox, { text: newPrompt() })).status).toBe(503)

  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [sandbox])
  const [{ id: execution }] = rows as [{ id: string }]
  const url = `${tenant.url}/v1/sandbox/${sandbox}/executions/${execution}/cancel`
  const { authorization } = tenant.headers
  const answer = await fetch(url, { method: 'POST', headers: { authorization } })
  expect([answer.status, answer.headers.get('x-service-invocation')]).toEqual([200, execution])
  expect(await recordOf(await waiter)).toMatchObject({ id: execution, status: 'Cancelled' })
})
