import { expect, test } from 'vitest'
import { executionFilters, executionQuery } from './execution-filters.ts'

test('executionFilters keeps the valid filters of a URL and drops the rest', () => {
  const said = { flow: 'sbx_1', state: 'Failed', since: 'day' } as const
  expect(executionFilters({ ...said, limit: 9_000 })).toEqual(said)
  expect(executionFilters({ flow: 1, state: 'Gone', since: 'ever' })).toEqual({})
})

test('executionQuery sends a flow as its sandbox product and a time range as its start time', () => {
  const now = new Date('2026-11-23T12:00:00.000Z')
  expect(executionQuery({ flow: 'sbx_1', since: 'hour' }, now)).toEqual({
    sandbox: 'sbx_1',
    from: '2026-11-23T11:00:00.000Z',
  })
  expect(executionQuery({ state: 'Running' }, now)).toEqual({ state: 'Running' })
})
