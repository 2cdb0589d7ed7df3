import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openFairSemaphore } from './fair-semaphore.ts'

function openJobs({ permits = 1, maxWaiting = 100 } = {}) {
  const semaphore = openFairSemaphore({ permits, maxWaiting, whenFull: () => new Error('full') })
  const started: string[] = []
  const ends: (() => void)[] = []
  const run = (party: string | readonly string[], name: string, rank = 0) =>
    semaphore.run(
      party,
      () => {
        started.push(name)
        return new Promise<void>((resolve) => ends.push(resolve))
      },
      rank,
    )
  /** Ends the oldest running job, and waits for the one that gets its permit. */
  async function endOne(): Promise<void> {
    ends.shift()!()
    await turn()
  }
  return { run, started, endOne }
}

test('runs a job of a quiet party after one of a party with 500 waiting', async () => {
  const { run, started, endOne } = openJobs({ permits: 2, maxWaiting: 1_000 })
  for (let n = 0; n < 500; n++) void run('busy', 'busy')
  void run('quiet', 'quiet')
  await endOne()
  await endOne()
  expect(started).toEqual(['busy', 'busy', 'busy', 'quiet'])
})

test('refuses a party that has half of the waiting places, and not another one', async () => {
  const { run, started, endOne } = openJobs({ maxWaiting: 4 })
  for (const name of ['running', 'first', 'second']) void run('busy', name)
  await expect(run('busy', 'third')).rejects.toThrow('full')
  void run('quiet', 'quiet')
  for (let n = 0; n < 3; n++) await endOne()
  expect(started.toSorted()).toEqual(['first', 'quiet', 'running', 'second'])
})

test('takes turns between kinds, then between the addresses of a kind, then between the users of an address', async () => {
  const { run, started, endOne } = openJobs()
  void run(['new', 'a', 'running'], 'running')
  for (const user of ['1', '1', '2']) void run(['new', 'a', user], `a${user}`)
  void run(['new', 'b', '3'], 'b3')
  void run(['known', 'c', '4'], 'c4')
  for (let n = 0; n < 5; n++) await endOne()
  expect(started).toEqual(['running', 'a1', 'c4', 'b3', 'a2', 'a1'])
})

test('runs the jobs of a lower rank first', async () => {
  const { run, started, endOne } = openJobs()
  void run('a', 'running')
  for (let n = 0; n < 50; n++) void run(`crowd ${n}`, 'crowd', 2)
  void run('late', 'late', 1)
  for (let n = 0; n < 2; n++) await endOne()
  expect(started).toEqual(['running', 'late', 'crowd'])
})

test('refuses a path when one of its lines is full, and not another one', async () => {
  const { run, started, endOne } = openJobs({ maxWaiting: 8 })
  for (const name of ['running', 'first', 'second', 'third', 'fourth']) void run(['new', 'a', 'user'], name)
  await expect(run(['new', 'b', 'user'], 'fifth')).rejects.toThrow('full')
  void run(['known', 'b', 'user'], 'known')
  for (let n = 0; n < 5; n++) await endOne()
  expect(started.toSorted()).toEqual(['first', 'fourth', 'known', 'running', 'second', 'third'])
})

test('passes on the permit of a job that fails', async () => {
  const semaphore = openFairSemaphore({ permits: 1, maxWaiting: 1, whenFull: () => new Error('full') })
  await expect(semaphore.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await semaphore.run('a', () => Promise.resolve('ran'))).toBe('ran')
})
