import { expect, test } from 'vitest'
import { callFilters, callQuery } from './call-filters.ts'

test('an address says which calls are shown, and nothing else', () => {
  expect(callFilters({ key: 'key_1', model: 'acme/swift', state: 'Settled', limit: 9_000 })).toEqual({
    key: 'key_1',
    model: 'acme/swift',
    state: 'Settled',
  })
  expect(callFilters({ key: 1, model: ['a'], state: 'Gone', since: 'ever' })).toEqual({})
})

test('a span goes back from now, and the other filters are fields of a call', () => {
  const now = new Date('2026-11-23T12:00:00.000Z')
  expect(callQuery({ since: 'day', execution: 'exe_1' }, now)).toEqual({
    execution: 'exe_1',
    from: '2026-11-22T12:00:00.000Z',
  })
  expect(callQuery({ key: 'key_1' }, now)).toEqual({ key: 'key_1' })
})
