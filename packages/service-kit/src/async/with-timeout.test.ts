import { describe, expect, test } from 'vitest'
import { settlesWithin, TimedOut, withTimeout } from './waiting.ts'

const HOUR_MS = 3_600_000
const never = new Promise<never>(() => {})

describe('withTimeout', () => {
  test('returns the result of synchronous and asynchronous work', async () => {
    expect(await withTimeout(HOUR_MS, async () => 'later')).toBe('later')
    expect(await withTimeout(HOUR_MS, () => 'now')).toBe('now')
  })

  test('throws the error of synchronous and asynchronous work', async () => {
    await expect(withTimeout(HOUR_MS, () => Promise.reject(new Error('broke')))).rejects.toThrow('broke')
    const throwing = () => {
      throw new Error('broke at once')
    }
    await expect(withTimeout(HOUR_MS, throwing)).rejects.toThrow('broke at once')
  })

  test('throws TimedOut at the limit', async () => {
    const error = await withTimeout(1, () => never).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TimedOut)
    expect(error).toMatchObject({ limitMs: 1, message: 'took longer than 1 ms' })
  })

  test('leaves no timer running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    await withTimeout(HOUR_MS, () => 'now')
    await settlesWithin(HOUR_MS, Promise.resolve())
    expect(timers()).toBe(before)
  })
})

describe('settlesWithin', () => {
  test('returns true if the promise resolves or rejects in time', async () => {
    expect(await settlesWithin(HOUR_MS, Promise.resolve())).toBe(true)
    expect(await settlesWithin(HOUR_MS, Promise.reject(new Error('broke')))).toBe(true)
  })

  test('returns false at the limit, and ignores a later rejection', async () => {
    const work = Promise.withResolvers<void>()
    expect(await settlesWithin(1, work.promise)).toBe(false)
    work.reject(new Error('an unhandled rejection would fail this test'))
    await new Promise(setImmediate)
  })
})
