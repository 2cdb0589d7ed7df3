import { describe, expect, test } from 'vitest'
import { openFairQueue } from './fair-semaphore.ts'

/** Takes all waiting items, in order. */
function all(queue: { take(): string | undefined }): string[] {
  const taken: string[] = []
  for (let thing = queue.take(); thing !== undefined; thing = queue.take()) taken.push(thing)
  return taken
}

describe('a fair queue', () => {
  test('serves parties in turn, regardless of the backlog of one', () => {
    const queue = openFairQueue<string>({ maxWeight: 100, turnWeight: 1 })
    for (const n of [1, 2, 3]) queue.push('busy', `busy ${n}`, 1)
    queue.push('quiet', 'quiet 1', 1)
    expect(queue.take()).toBe('busy 1')
    queue.push('new', 'new 1', 1)
    expect(all(queue)).toEqual(['quiet 1', 'new 1', 'busy 2', 'busy 3'])
  })

  test('serves many light items of one party per heavy item of another', () => {
    const queue = openFairQueue<string>({ maxWeight: 100, turnWeight: 2 })
    for (const n of [1, 2]) queue.push('heavy', `heavy ${n}`, 8)
    for (let n = 1; n <= 8; n++) queue.push('light', `light ${n}`, 1)
    const taken = all(queue)
    expect(taken.indexOf('light 6')).toBeLessThan(taken.indexOf('heavy 1'))
    expect(taken.indexOf('light 8')).toBeLessThan(taken.indexOf('heavy 2'))
    expect(taken).toHaveLength(10)
  })

  test('serves a lone party without delay, however heavy its items', () => {
    const queue = openFairQueue<string>({ maxWeight: 100, turnWeight: 1 })
    queue.push('only', 'heavy', 40)
    queue.push('only', 'light', 1)
    expect(all(queue)).toEqual(['heavy', 'light'])
  })

  test('lets a party occupy as much as is still free, which leaves room for new ones', () => {
    const queue = openFairQueue<null>({ maxWeight: 100, turnWeight: 1 })
    const fill = (party: string) => {
      let filled = 0
      for (; queue.hasRoom(party, 1); filled++) queue.push(party, null, 1)
      return filled
    }
    expect([fill('first'), fill('second'), fill('third')]).toEqual([50, 25, 13])
    expect(queue.hasRoom('first', 1)).toBe(false)
    expect(queue.hasRoom('fourth', 12)).toBe(true)
    for (let n = 0; n < 60; n++) queue.take()
    expect(queue.hasRoom('first', 1)).toBe(true)
  })

  test('passes over a party that may not have its item yet, and keeps its place', () => {
    const queue = openFairQueue<string>({ maxWeight: 100, turnWeight: 1 })
    for (const party of ['full', 'quiet']) for (const n of [1, 2]) queue.push(party, `${party} ${n}`, 1)
    expect(queue.take((party) => party !== 'full')).toBe('quiet 1')
    expect(queue.take(() => false)).toBeUndefined()
    expect(all(queue)).toEqual(['full 1', 'full 2', 'quiet 2'])
  })

  test('frees the room of an item that is taken out', () => {
    const queue = openFairQueue<string>({ maxWeight: 3, turnWeight: 1 })
    for (const n of [1, 2]) queue.push('only', `only ${n}`, 1)
    expect(queue.hasRoom('other', 2)).toBe(false)
    queue.remove('only', 'only 1')
    queue.remove('only', 'not there')
    expect([queue.weight(), queue.hasRoom('other', 2)]).toEqual([1, true])
    expect(all(queue)).toEqual(['only 2'])
    expect(queue.weight()).toBe(0)
  })
})
