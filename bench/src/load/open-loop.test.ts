import { expect, test } from 'vitest'
import { openLoop } from './open-loop.ts'

test('starts every call at its time, without waiting for the earlier ones, and returns the results in order', async () => {
  const due: number[] = []
  const over = Promise.withResolvers<void>()
  const results = await openLoop({
    rate: 1_000,
    lastsMs: 20,
    call: async (dueMs) => {
      expect(performance.now()).toBeGreaterThanOrEqual(dueMs)
      due.push(dueMs)
      if (due.length === 20) over.resolve()
      await over.promise
      return due.indexOf(dueMs)
    },
  })
  expect(results).toEqual(Array.from({ length: 20 }, (_, n) => n))
  expect(due[19]! - due[0]!).toBeCloseTo(19)
})

test('fails if a call fails', async () => {
  await expect(openLoop({ rate: 1_000, lastsMs: 3, call: () => Promise.reject(new Error('503')) })).rejects.toThrow(
    '503',
  )
})
