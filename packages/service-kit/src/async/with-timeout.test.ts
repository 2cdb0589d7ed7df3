import { describe, expect, test } from 'vitest'
import { settlesWithin, TimedOut, withTimeout } from './waiting.ts'

const HOUR_MS = 3_600_000
const never = new Promise<never>(() => {})

describe('work with a time limit', () => {
  test('answers what it answers, whether it waits for it or not', async () => {
    expect(await withTimeout(HOUR_MS, async () => 'later')).toBe('later')
    expect(await withTimeout(HOUR_MS, () => 'now')).toBe('now')
  })

  test('throws what it throws, whether it waits for it or not', async () => {
    await expect(withTimeout(HOUR_MS, () => Promise.reject(new Error('broke')))).rejects.toThrow('broke')
    const throwing = () => {
      throw new Error('broke at once')
    }
    await expect(withTimeout(HOUR_MS, throwing)).rejects.toThrow('broke at once')
  })

  test('is not waited for beyond its limit', async () => {
    const error = await withTimeout(1, () => never).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TimedOut)
    expect(error).toMatchObject({ limitMs: 1, message: 'took longer than 1 ms' })
  })

  test('leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    await withTimeout(HOUR_MS, () => 'now')
    await settlesWithin(HOUR_MS, Promise.resolve())
    expect(timers()).toBe(before)
  })
})

describe('a promise with a time limit', () => {
  test('is in time when it has resolved or rejected', async () => {
    expect(await settlesWithin(HOUR_MS, Promise.resolve())).toBe(true)
    expect(await settlesWithin(HOUR_MS, Promise.reject(new Error('broke')))).toBe(true)
  })

  test('is late otherwise, and may reject then', async () => {
    const work = Promise.withResolvers<void>()
    expect(await settlesWithin(1, work.promise)).toBe(false)
    work.reject(new Error('an unhandled rejection would fail this test'))
    await new Promise(setImmediate)
  })
})
