import { describe, expect, test } from 'vitest'
import { openFairQueue } from './fair-queue.ts'

describe('a fair queue', () => {
  test('asks each party in turn, whatever another one has waiting', () => {
    const queue = openFairQueue<string>(100)
    for (const n of [1, 2, 3]) queue.push('busy', `busy ${n}`, 1)
    queue.push('quiet', 'quiet 1', 1)
    expect(queue.take()).toBe('busy 1')
    queue.push('new', 'new 1', 1)
    expect(Array.from({ length: 5 }, () => queue.take())).toEqual(['quiet 1', 'busy 2', 'new 1', 'busy 3', undefined])
    expect(queue.weight()).toBe(0)
  })

  test('lets one party have as much as is free, and has room for who comes new', () => {
    const queue = openFairQueue<null>(100)
    const fill = (party: string) => {
      let filled = 0
      for (; queue.hasRoom(party, 1); filled++) queue.push(party, null, 1)
      return filled
    }
    expect([fill('first'), fill('second'), fill('third')]).toEqual([50, 25, 13])
    expect(queue.hasRoom('first', 1)).toBe(false)
    expect(queue.hasRoom('fourth', 12)).toBe(true)
    for (let n = 0; n < 30; n++) queue.take()
    expect(queue.hasRoom('first', 1)).toBe(true)
  })
})
