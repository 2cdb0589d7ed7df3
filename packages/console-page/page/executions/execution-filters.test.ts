import { expect, test } from 'vitest'
import { executionFilters, executionQuery } from './execution-filters.ts'

test('an address says which executions are shown, and nothing else', () => {
  const said = { flow: 'sbx_1', state: 'Failed', since: 'day' } as const
  expect(executionFilters({ ...said, limit: 9_000 })).toEqual(said)
  expect(executionFilters({ flow: 1, state: 'Gone', since: 'ever' })).toEqual({})
})

test('a flow is asked for as the sandbox product that it is, and a span back from now', () => {
  const now = new Date('2026-11-23T12:00:00.000Z')
  expect(executionQuery({ flow: 'sbx_1', since: 'hour' }, now)).toEqual({
    sandbox: 'sbx_1',
    from: '2026-11-23T11:00:00.000Z',
  })
  expect(executionQuery({ state: 'Running' }, now)).toEqual({ state: 'Running' })
})
