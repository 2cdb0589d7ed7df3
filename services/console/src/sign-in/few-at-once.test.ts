import { expect, test } from 'vitest'
import { fewAtOnce } from './few-at-once.ts'

test('no more run at once than may, and those who wait go in their order', async () => {
  const run = fewAtOnce({ running: 2, waiting: 10 })
  const ends: (() => void)[] = []
  const began: number[] = []
  const jobs = [0, 1, 2, 3].map((n) =>
    run(() => {
      began.push(n)
      return new Promise<number>((resolve) => ends.push(() => resolve(n)))
    }),
  )
  expect(began).toEqual([0, 1])
  ends[1]!()
  expect(await jobs[1]).toBe(1)
  expect(began).toEqual([0, 1, 2])
  ends[0]!()
  await jobs[0]
  ends[2]!()
  await jobs[2]
  ends[3]!()
  expect(await Promise.all(jobs)).toEqual([0, 1, 2, 3])
})

test('when too many wait the next is refused, and a place that a failed job held is free again [overloaded]', async () => {
  const run = fewAtOnce({ running: 1, waiting: 1 })
  const first = Promise.withResolvers<never>()
  const failing = run(() => first.promise)
  const waiting = run(() => Promise.resolve('done'))
  await expect(run(() => Promise.resolve('too much'))).rejects.toMatchObject({ code: 'overloaded', status: 503 })
  first.reject(new Error('it broke'))
  await expect(failing).rejects.toThrow('it broke')
  expect(await waiting).toBe('done')
  expect(await run(() => Promise.resolve('again'))).toBe('again')
})
