import { expect, test } from 'vitest'
import { callFilters, callQuery } from './call-filters.ts'

test('callFilters keeps the valid filters of a URL and drops the rest', () => {
  expect(callFilters({ key: 'key_1', model: 'acme/swift', state: 'Settled', limit: 9_000 })).toEqual({
    key: 'key_1',
    model: 'acme/swift',
    state: 'Settled',
  })
  expect(callFilters({ key: 1, model: ['a'], state: 'Gone', since: 'ever' })).toEqual({})
})

test('callQuery converts the time range to a start time and passes the other filters through', () => {
  const now = new Date('2026-11-23T12:00:00.000Z')
  expect(callQuery({ since: 'day', execution: 'exe_1' }, now)).toEqual({
    execution: 'exe_1',
    from: '2026-11-22T12:00:00.000Z',
  })
  expect(callQuery({ key: 'key_1' }, now)).toEqual({ key: 'key_1' })
  expect(callQuery({ order: 'cost' }, now)).toEqual({
    order: 'cost',
    from: '2026-10-24T12:00:00.000Z',
    to: '2026-11-23T12:00:00.000Z',
  })
})

test('callQuery takes yesterday for the whole local day before', () => {
  const now = new Date(2026, 2, 1, 0, 30)
  const { from, to } = callQuery({ since: 'yesterday' }, now) as { from: string; to: string }
  expect([new Date(from), new Date(to)]).toEqual([new Date(2026, 1, 28), new Date(2026, 2, 1)])
})
