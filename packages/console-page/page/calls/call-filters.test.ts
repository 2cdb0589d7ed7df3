import { expect, test } from 'vitest'
import { callFilters } from './call-filters.ts'

test('an address says which calls are shown, and nothing else', () => {
  expect(callFilters({ key: 'key_1', model: 'acme/swift', state: 'Settled', limit: 9_000 })).toEqual({
    key: 'key_1',
    model: 'acme/swift',
    state: 'Settled',
  })
  expect(callFilters({ key: 1, model: ['a'], state: 'Gone' })).toEqual({})
})
