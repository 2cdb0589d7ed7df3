import { expect, test } from 'vitest'
import { openSemaphore } from './semaphore.ts'

const full = () => new Error('full')

test('runs at most as many jobs as there are permits, and the others in order of arrival', async () => {
  const semaphore = openSemaphore({ permits: 2, maxWaiting: 10, whenFull: full })
  const ends: (() => void)[] = []
  const began: number[] = []
  const jobs = [0, 1, 2, 3].map((n) =>
    semaphore.run(() => {
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

test('refuses a job if too many wait, and frees the permit of a failed job', async () => {
  const semaphore = openSemaphore({ permits: 1, maxWaiting: 1, whenFull: full })
  const first = Promise.withResolvers<never>()
  const failing = semaphore.run(() => first.promise)
  const waiting = semaphore.run(() => Promise.resolve('done'))
  await expect(semaphore.run(() => Promise.resolve('too much'))).rejects.toThrow('full')
  first.reject(new Error('it broke'))
  await expect(failing).rejects.toThrow('it broke')
  expect(await waiting).toBe('done')
  expect(await semaphore.run(() => Promise.resolve('again'))).toBe('again')
})

test('frees the permit of a job that throws synchronously', async () => {
  const semaphore = openSemaphore({ permits: 1, maxWaiting: 0, whenFull: full })
  const throwing = semaphore.run(() => {
    throw new Error('at once')
  })
  await expect(throwing).rejects.toThrow('at once')
  expect(await semaphore.run(() => Promise.resolve('next'))).toBe('next')
})
