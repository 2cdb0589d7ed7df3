import { expect, test } from 'vitest'
import { keyWindow } from './key-record.ts'

const now = new Date('2026-11-20T12:00:00Z') // a Friday
const at = (windowStart: string) => ({ windowStart: new Date(windowStart), spent: 30n, reserved: 20n })
const untouched = { spentMicro: 0, reservedMicro: 0, remainingMicro: 100 }
const used = { spentMicro: 30, reservedMicro: 20, remainingMicro: 50 }

test.for([
  ['daily', '2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'],
  ['weekly', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
  ['monthly', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'],
] as const)(
  'a %s window shows the amounts of its meter, and none from an earlier window',
  ([reset, startsAt, resetsAt]) => {
    const limit = { micro: 100, reset }
    expect(keyWindow(limit, at(startsAt), now)).toEqual({ ...used, startsAt, resetsAt })
    expect(keyWindow(limit, at('2026-10-31T00:00:00Z'), now)).toEqual({ ...untouched, startsAt, resetsAt })
    expect(keyWindow(limit, undefined, now)).toEqual({ ...untouched, startsAt, resetsAt })
  },
)

test('keeps a window that starts in the future because the clock has since been set back', () => {
  const ahead = keyWindow({ micro: 100, reset: 'daily' }, at('2026-11-21T00:00:00Z'), now)
  expect(ahead).toEqual({ ...used, startsAt: '2026-11-21T00:00:00Z', resetsAt: '2026-11-22T00:00:00Z' })
})

test('a lifetime limit has no start and no reset, and a key without a limit has no window', () => {
  const limit = { micro: 100, reset: 'lifetime' } as const
  expect(keyWindow(limit, at('1970-01-01T00:00:00Z'), now)).toEqual({ ...used, startsAt: null, resetsAt: null })
  expect(keyWindow(null, at('1970-01-01T00:00:00Z'), now)).toBe(null)
})
