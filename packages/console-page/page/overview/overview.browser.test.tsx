import { expect } from 'vitest'
import { refuse } from '@gateway/api/refusal'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const once = { headers: { 'x-should-retry': 'false' } }

test('executions in progress are read again after a failed read [unavailable]', async ({ api, open }) => {
  const [execution] = contractExample('listProjectExecutions').data
  api.answer('listProjectExecutions', { data: [{ ...execution!, status: 'Running' }], nextCursor: null })
  const { screen } = await open(project)
  const running = screen.getByRole('region', { name: 'Running now' })
  await expect.element(running).toBeVisible()
  const reads = () =>
    ['Admitted', 'Running'].map(
      (state) => api.asked('listProjectExecutions').filter(({ query }) => query['state'] === state).length,
    )
  const before = reads()
  api.answer('listProjectExecutions', refuse('unavailable', {}, once))
  await expect.poll(() => reads().every((count, state) => count > before[state]!)).toBe(true)
  api.answer('listProjectExecutions', { data: [], nextCursor: null })
  await expect.element(running).not.toBeInTheDocument()
})
