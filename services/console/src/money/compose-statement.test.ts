import { statement } from '@gateway/api/console/statement'
import { describe, expect, test } from 'vitest'
import { composeStatement, type Booked, type Booking } from './compose-statement.ts'
import { statementRows } from './statement.ts'

const period = { from: '2026-11-01', to: '2026-12-01' }
const booking = (day: string, kind: Booking['kind'], micro: bigint, product = '', entries = 1n, tag = ''): Booking => ({
  day,
  kind,
  micro,
  product,
  tag,
  entries,
})
const bookings = [
  booking('2026-11-02', 'fund', 1_000n),
  booking('2026-11-02', 'settle', 30n, 'acme/a', 2n),
  booking('2026-11-02', 'settle', 5n, 'acme/b'),
  booking('2026-11-20', 'correct', -7n),
  booking('2026-11-20', 'settle', 10n, 'acme/a', 1n, 'batch'),
]
const balances = { entries: 9n, funded: 1_493n, reserved: 12n, settled: 145n }
const booked: Booked = {
  asOf: new Date('2026-11-23T09:30:00Z'),
  final: false,
  wallet: balances,
  journal: balances,
  opening: 400n,
  bookings,
  fundings: 1_000n,
  corrections: -7n,
  charges: [{ model: 'acme/a', calls: 3, chargedMicro: 40 }],
  tags: [{ tag: null, calls: 3, chargedMicro: 35 }],
  tagCount: 2,
  check: null,
  seal: null,
}

test('the bookings of a statement add up, day by day, from the opening to the closing balance', () => {
  const { statement: made } = composeStatement(booked, period)
  expect(made).toEqual({
    ...period,
    asOf: '2026-11-23T09:30:00.000Z',
    final: false,
    openingMicro: 400,
    fundedMicro: 1_000,
    correctedMicro: -7,
    chargedMicro: 45,
    closingMicro: 1_348,
    calls: 4,
    charges: booked.charges,
    tags: booked.tags,
    tagCount: 2,
    days: [
      { day: '2026-11-02', fundedMicro: 1_000, correctedMicro: 0, chargedMicro: 35, calls: 3, closingMicro: 1_365 },
      { day: '2026-11-20', fundedMicro: 0, correctedMicro: -7, chargedMicro: 10, calls: 1, closingMicro: 1_348 },
    ],
    reservedMicro: 12,
    reconciled: true,
    differences: [],
    check: null,
    seal: null,
  })
})

test('the example statement of the API contract is valid and adds up', () => {
  const [example] = statement.meta()!['examples'] as [typeof statement._output]
  const { openingMicro, fundedMicro, correctedMicro, chargedMicro, closingMicro } = statement.parse(example)
  expect(openingMicro + fundedMicro + correctedMicro - chargedMicro).toBe(closingMicro)
})

test('a statement as a table has the opening balance, each booking with the balance after it, and the closing balance', () => {
  const { statement: made, lines } = composeStatement(booked, period)
  expect(statementRows(made, lines)).toEqual([
    ['day', 'entry', 'model', 'tag', 'calls', 'amount_micro', 'balance_micro'],
    ['2026-11-01', 'opening', '', '', '', '', 400],
    ['2026-11-02', 'funded', '', '', '', 1_000n, 1_400n],
    ['2026-11-02', 'charged', 'acme/a', '', 2n, -30n, 1_370n],
    ['2026-11-02', 'charged', 'acme/b', '', 1n, -5n, 1_365n],
    ['2026-11-20', 'corrected', '', '', '', -7n, 1_358n],
    ['2026-11-20', 'charged', 'acme/a', 'batch', 1n, -10n, 1_348n],
    ['2026-12-01', 'closing', '', '', '', '', 1_348],
  ])
})

describe('statement does not reconcile', () => {
  const changes: [what: string, change: Partial<Booked>, expected: number, found: number][] = [
    ['journal entries of the wallet', { wallet: { ...balances, entries: 10n } }, 9, 10],
    ['funded and corrected of the wallet', { wallet: { ...balances, funded: 1_492n } }, 1_493, 1_492],
    ['reserved of the wallet', { journal: { ...balances, reserved: 11n } }, 11, 12],
    ['charged to the wallet', { journal: { ...balances, settled: 144n } }, 144, 145],
    ['records of fundings in this time', { fundings: 999n }, 1_000, 999],
    ['records of corrections in this time', { corrections: 0n }, -7, 0],
  ]
  for (const [what, change, expected, found] of changes) {
    test(`if a figure is off by one: ${what}`, () => {
      const { statement: made, lines } = composeStatement({ ...booked, ...change }, period)
      expect([made.reconciled, made.differences]).toEqual([false, [{ what, expected, found }]])
      expect(statementRows(made, lines).at(-1)?.[1]).toBe(
        `not reconciled: ${what} (expected ${expected}, found ${found})`,
      )
    })
  }
})
