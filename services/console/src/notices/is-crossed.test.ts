import { expect, test } from 'vitest'
import { isCrossed, type NoticeFacts, type WrittenNotice } from './open-notices.ts'

const notice = (part: Partial<WrittenNotice>): WrittenNotice => ({
  id: 'ntc_1',
  kind: 'wallet.below',
  threshold: 5_000_000n,
  lineage: null,
  windowStart: null,
  ...part,
})
const facts: NoticeFacts = { remainingMicro: 0n, weekMicro: 0n, windows: new Map() }

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
