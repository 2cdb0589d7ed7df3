import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchRate } from './connections.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Watches for at least 10 bytes in each window of a second. */
function watched() {
  const state = { bytes: 0, ended: 0 }
  const stop = watchRate(
    () => state.bytes,
    () => state.ended++,
    { bytesPerSecond: 10, windowMs: 1_000 },
  )
  const pass = (bytes: number) => {
    state.bytes += bytes
    vi.advanceTimersByTime(1_000)
    return state.ended
  }
  return { pass, stop }
}

test('watchRate lets a transfer pass that keeps the minimum in every window', () => {
  const { pass } = watched()
  for (const bytes of [10, 500, 10, 11]) expect(pass(bytes)).toBe(0)
})

test('watchRate ends a transfer that stalls after a burst, once', () => {
  const { pass } = watched()
  expect([pass(1_000_000), pass(9), pass(0)]).toEqual([0, 1, 1])
  expect(vi.getTimerCount()).toBe(0)
})

test('watchRate ends nothing after it was stopped', () => {
  const { pass, stop } = watched()
  stop()
  expect(pass(0)).toBe(0)
})
