import { expect, test } from 'vitest'
import type { RefusalCounts } from '@gateway/api/console/refusals'
import { refusalGroups } from './refusal-groups.ts'
import { refusalView } from './refusal-view.ts'

const hour = (at: number, group: string, count: number) => ({ hour: `2026-11-20T0${at}:00:00.000Z`, group, count })
const counts: RefusalCounts = {
  from: '2026-11-20T08:00:00.000Z',
  to: '2026-11-20T10:00:00.000Z',
  by: 'code',
  data: [hour(8, 'rate_limited', 4), hour(9, 'key_limit', 5)],
  total: 9,
}
const latest = {
  at: '2026-11-20T08:30:00.000Z',
  key: 'key_1',
  model: null,
  code: 'rate_limited',
  status: 429,
  requestId: 'req_1',
}

test('refusalGroups has the largest count first, with the latest refusal of a code or, if unknown, its latest hour', () => {
  expect(refusalGroups(counts, [latest])).toEqual([
    { group: 'key_limit', count: 5, lastAt: '2026-11-20T09:00:00.000Z', isToTheHour: true },
    { group: 'rate_limited', count: 4, lastAt: latest.at, isToTheHour: false },
  ])
})

test('refusalView keeps a valid period, a code and a key and drops the rest', () => {
  expect(refusalView({ days: 7, code: 'key_limit', key: 'key_1', other: 1 })).toEqual({
    days: 7,
    code: 'key_limit',
    key: 'key_1',
  })
  expect(refusalView({ days: 400, code: 3 })).toEqual({})
})
