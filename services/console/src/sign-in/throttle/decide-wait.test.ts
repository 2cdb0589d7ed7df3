import { expect, test } from 'vitest'
import { NO_FAILURES, rankOf, waitOfKnownDevice, waitOfNewDevice, withDrop, withFailure } from './decide-wait.ts'

const NOW = 1_800_000_000_000
const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 3_600_000
const at = (level: number, agoMs = 0) => ({ level, atMs: NOW - agoMs })
const none = NO_FAILURES

test.for([
  ['the first try', none, none, none, 0],
  ['a fifth try', at(4), at(4), at(4), 0],
  ['a sixth try', at(5), at(5), at(5), SECOND],
  ['a sixth try a second later', at(5, SECOND), at(5, SECOND), at(5), 0],
  ['a ninth try', at(8), at(8), at(8), 8 * SECOND],
  ['the hundredth failure from one address', at(100), at(19), at(49), 15 * MINUTE],
  ['failures of a day ago', at(100, 24 * HOUR), at(19), none, 0],
  ['a new address when the email is nearly under attack', none, at(19.99), none, 0],
  ['a new address while the email is under attack', none, at(300), none, 0],
  ['its second try', at(1), at(300), at(1), 0],
  ['its third try', at(2), at(20), at(2), 7.5 * MINUTE],
  ['its third try while the bucket is fuller', at(2), at(27), at(2), HOUR],
  ['its third try after the bucket has drained', at(2, 2 * HOUR), at(27, 2 * HOUR), at(2), 0],
  ['a new address when 500 failed', none, at(500), none, 7.5 * MINUTE],
  ['a new address when 500 failed, 8 minutes later', none, at(500, 8 * MINUTE), none, 0],
  ['an address that failed for 50 other emails', none, none, at(50), SECOND],
  ['an address that failed for 500 other emails', none, none, at(500), MINUTE],
] as const)('a new device waits as decision 5 says: %s', ([, pair, email, address, waitMs]) => {
  expect(waitOfNewDevice({ pair, email, address }, NOW)).toBe(waitMs)
})

test.for([
  ['none', none, 0],
  ['9', at(9), 0],
  ['10', at(10), SECOND],
  ['30', at(30), 15 * MINUTE],
  ['30, 15 minutes ago', at(30, 15 * MINUTE), 0],
] as const)('a known device waits only for failures on it: %s', ([, device, waitMs]) => {
  expect(waitOfKnownDevice(device, NOW)).toBe(waitMs)
})

test('an address with fewer failures is served first, up to five, for a day', () => {
  expect([at(4), at(5), at(9), at(5, 24 * HOUR)].map((address) => rankOf(address, NOW))).toEqual([5, 6, 6, 1])
})

test.for([
  ['one address', 1, 30],
  ['200 addresses', 200, 450],
  ['a new address for each guess', Infinity, 510],
] as const)('guesses from %s fall below 10 an hour, and a new address still gets in', ([, addresses, most]) => {
  const pairs = new Map<number, { level: number; atMs: number }>()
  let email = NO_FAILURES
  const byHour: number[] = []
  let next = 0
  // Every ten seconds of a day, up to 200 addresses guess; counting the address itself would only slow them down.
  for (let second = 0; second < 86_400; second += 10) {
    const nowMs = NOW + second * SECOND
    const hour = Math.floor(second / 3_600)
    for (let n = 0; n < Math.min(addresses, 200); n++) {
      const address = addresses === Infinity ? next : n
      const pair = pairs.get(address) ?? NO_FAILURES
      if (waitOfNewDevice({ pair, email, address: NO_FAILURES }, nowMs) > 0) continue
      next++
      pairs.set(address, withFailure(pair, nowMs))
      email = withDrop(email, nowMs)
      byHour[hour] = (byHour[hour] ?? 0) + 1
    }
  }
  expect(byHour[0]).toBeLessThan(most)
  expect(Math.max(...byHour.slice(1))).toBeLessThan(10)
  if (addresses === Infinity) return // only known devices, single sign-on and reset links get in at once
  expect(waitOfNewDevice({ pair: NO_FAILURES, email, address: NO_FAILURES }, NOW + 86_400 * SECOND)).toBe(0)
})
