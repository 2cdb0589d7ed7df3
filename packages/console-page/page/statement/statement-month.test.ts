import { expect, test } from 'vitest'
import { monthFrom, statementView } from './statement-month.ts'

test.for([
  ['2026-11', 1, '2026-12'],
  ['2026-12', 1, '2027-01'],
  ['2026-01', -1, '2025-12'],
  ['2026-03', -12, '2025-03'],
] as const)('monthFrom(%s, %d) is %s', ([month, by, expected]) => {
  expect(monthFrom(month, by)).toBe(expected)
})

test('statementView drops an invalid month', () => {
  expect(['2026-11', '2026-13', '1969-12', '26-1', 7, undefined].map((month) => statementView({ month }))).toEqual([
    { month: '2026-11' },
    {},
    {},
    {},
    {},
    {},
  ])
})
