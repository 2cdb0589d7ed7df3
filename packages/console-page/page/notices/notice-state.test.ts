import { expect, test } from 'vitest'
import type { NoticeRecord } from '@gateway/contracts/console/notices'
import { openNotices, type NoticeFacts } from './notice-state.ts'

const notice = (part: Partial<NoticeRecord>): NoticeRecord => ({
  id: 'ntc_1',
  kind: 'wallet.below',
  threshold: 5_000_000,
  at: '2026-11-20T09:00:00.000Z',
  remainingMicro: 4_999_999,
  key: null,
  windowStart: null,
  limitMicro: null,
  spentMicro: null,
  deliveries: [],
  ...part,
})
const facts: NoticeFacts = { remainingMicro: null, daysLeft: null, keys: [] }
const windowOf = (startsAt: string | null, spentMicro: number): NoticeFacts['keys'][number] => ({
  id: 'key_1',
  state: 'Active',
  limit: { micro: 100, reset: startsAt === null ? 'lifetime' : 'daily' },
  window: { spentMicro, reservedMicro: 0, remainingMicro: 100 - spentMicro, startsAt, resetsAt: null },
})

test('a notice of a wallet is open until as much as its threshold remains again', () => {
  const open = (remainingMicro: number | null) => openNotices([notice({})], { ...facts, remainingMicro }).size
  expect([open(4_999_999), open(5_000_000), open(null)]).toEqual([1, 0, 0])
})

test('of two notices of one threshold the newer alone is open', () => {
  const told = [notice({ id: 'ntc_2' }), notice({}), notice({ id: 'ntc_0', threshold: 6_000_000 })]
  expect([...openNotices(told, { ...facts, remainingMicro: 1 })]).toEqual(['ntc_2', 'ntc_0'])
})

test('a notice of days left is open while what remains lasts for fewer', () => {
  const told = [notice({ kind: 'wallet.days_left', threshold: 3 })]
  const open = (daysLeft: number | null) => openNotices(told, { ...facts, daysLeft }).size
  expect([open(2), open(3), open(null)]).toEqual([1, 0, 0])
})

test('a notice of a key is open in its own window, while the limit is as low and the key works', () => {
  const windowStart = '2026-11-20T00:00:00.000Z'
  const told = [notice({ kind: 'key.percent', threshold: 80, key: 'key_1', windowStart })]
  const open = (key: NoticeFacts['keys'][number]) => openNotices(told, { ...facts, keys: [key] }).size
  expect(open(windowOf(windowStart, 80))).toBe(1)
  expect(open(windowOf(null, 80))).toBe(1)
  expect(open(windowOf(windowStart, 79))).toBe(0)
  expect(open(windowOf('2026-11-21T00:00:00.000Z', 80))).toBe(0)
  expect(open({ ...windowOf(windowStart, 80), state: 'Revoked' })).toBe(0)
  expect(openNotices(told, facts).size).toBe(0)
})
