import { expect, test } from 'vitest'
import { isCrossed, isOpenEvent, type NoticeFacts, type WrittenNotice } from './list-notices.ts'

const notice = (part: Partial<WrittenNotice>): WrittenNotice => ({
  id: 'ntc_1',
  kind: 'wallet.below',
  threshold: 5_000_000n,
  lineage: null,
  windowStart: null,
  limitMicro: null,
  spentMicro: null,
  details: {},
  at: new Date('2026-11-20T09:00:00Z'),
  ...part,
})
const facts: NoticeFacts = {
  now: new Date('2026-11-20T10:00:00Z'),
  remainingMicro: 0n,
  weekMicro: 0n,
  windows: new Map(),
  budgets: new Map(),
  failingSince: new Map(),
}

test('a wallet notice is open until the balance is back at its threshold', () => {
  const open = (remainingMicro: bigint) => isCrossed(notice({}), { ...facts, remainingMicro })
  expect([open(4_999_999n), open(5_000_000n)]).toEqual([true, false])
})

test('a days-left notice is open while the balance lasts for fewer days, and never without charges', () => {
  const shown = notice({ kind: 'wallet.days_left', threshold: 3n })
  const open = (remainingMicro: bigint, weekMicro: bigint) => isCrossed(shown, { ...facts, remainingMicro, weekMicro })
  expect([open(29n, 70n), open(30n, 70n), open(0n, 0n)]).toEqual([true, false, false])
})

test('a key notice is open only in its own window, while spend is above its threshold and the lineage has a working key', () => {
  const start = '2026-11-20T00:00:00Z'
  const shown = notice({ kind: 'key.percent', threshold: 80n, lineage: 'key_1', windowStart: new Date(start) })
  const open = (startsAt: string | null, spentMicro: number, micro = 100) => {
    const window = { spentMicro, reservedMicro: 0, remainingMicro: micro - spentMicro, startsAt, resetsAt: null }
    const limit = { micro, reset: startsAt === null ? ('lifetime' as const) : ('daily' as const) }
    return isCrossed(shown, { ...facts, windows: new Map([['key_1', { limit, window }]]) })
  }
  expect([open(start, 80), open(null, 80), open(start, 79), open(start, 80, 101)]).toEqual([true, true, false, false])
  expect(open('2026-11-21T00:00:00Z', 80)).toBe(false)
  expect(isCrossed(shown, facts)).toBe(false)
})

const month = new Date('2026-11-01T00:00:00Z')
const ofBudget = { kind: 'budget.percent', lineage: 'bud_1', windowStart: month, limitMicro: 100n }
const budget = { limitMicro: 100n, hard: true, spentMicro: 80n, windowStart: month }

test.for([
  ['has the same limit', budget, true],
  ['has a raised limit', { ...budget, limitMicro: 101n }, false],
  ['has a raised limit and has spent its share of it', { ...budget, limitMicro: 101n, spentMicro: 81n }, true],
  ['has a lowered limit', { ...budget, limitMicro: 90n }, true],
  ['counts another month', { ...budget, windowStart: new Date('2026-12-01T00:00:00Z') }, false],
  ['was removed', undefined, false],
] as const)('decides whether a notice of 80 percent is open if its budget %s', ([, now, open]) => {
  const shown = notice({ ...ofBudget, threshold: 80n, spentMicro: 80n })
  const budgets = new Map(now && [['bud_1', now]])
  expect(isCrossed(shown, { ...facts, budgets })).toBe(open)
  expect(isCrossed(shown, { ...facts, budgets, now: new Date('2026-12-01T00:00:00Z') })).toBe(false)
})

test('a notice of 100 percent that a refusal wrote early is open until the limit is raised or refuses nothing', () => {
  const open = (now: Partial<typeof budget>, spentMicro = 80n) => {
    const shown = notice({ ...ofBudget, threshold: 100n, spentMicro })
    return isCrossed(shown, { ...facts, budgets: new Map([['bud_1', { ...budget, ...now }]]) })
  }
  expect([open({}), open({ limitMicro: 99n }), open({ limitMicro: 101n })]).toEqual([true, true, false])
  expect([open({ hard: false }), open({ hard: false, spentMicro: 100n })]).toEqual([false, true])
  expect(open({ limitMicro: 101n, spentMicro: 101n }, 100n)).toBe(true)
})

test('a rotation or leak is open for a day', () => {
  for (const kind of ['key.rotated', 'key.leaked', 'token.leaked']) {
    const shown = notice({ kind, threshold: null })
    const open = (now: string) => isOpenEvent(shown, { ...facts, now: new Date(now) })
    expect([open('2026-11-21T08:59:59Z'), open('2026-11-21T09:00:00Z')]).toEqual([true, false])
    expect(isCrossed(shown, facts)).toBe(false)
  }
})

test('a failing webhook is open until it recovers, and only in the notice of its current failure', () => {
  const shown = notice({ kind: 'webhook.failing', threshold: null, details: { webhook: 'whk_1', status: 500 } })
  const open = (...failing: [string, number][]) => isOpenEvent(shown, { ...facts, failingSince: new Map(failing) })
  const at = shown.at.getTime()
  expect([open(['whk_1', at]), open(['whk_1', at + 1]), open(['whk_2', at]), open()]).toEqual([
    true,
    false,
    false,
    false,
  ])
})
