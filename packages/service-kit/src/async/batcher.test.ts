import { describe, expect, test, vi } from 'vitest'
import { openBatcher, openItemBatcher } from './batcher.ts'

/** Runs that end when the test says so. */
function openRuns<Batch>() {
  const batches: Batch[] = []
  const ends: (() => void)[] = []
  return {
    batches,
    run: (batch: Batch) => {
      batches.push(batch)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
    async end(n: number) {
      ends[n]!()
      await new Promise(setImmediate)
    },
  }
}

describe('a batcher of items', () => {
  test('runs a lone item at once, and the items added meanwhile as one batch after it', async () => {
    const { batches, run, end } = openRuns<string[]>()
    const batcher = openItemBatcher({ maxItems: 10, run })
    batcher.add('a')
    await Promise.resolve()
    expect(batches).toEqual([['a']])
    for (const item of ['b', 'c', 'd']) batcher.add(item)
    await new Promise(setImmediate)
    expect([batches.length, batcher.waiting().all]).toEqual([1, 3])
    await end(0)
    expect(batches).toEqual([['a'], ['b', 'c', 'd']])
  })

  test('batches the items added in one tick, up to the batch size', async () => {
    const { batches, run, end } = openRuns<number[]>()
    const batcher = openItemBatcher({ maxItems: 2, run })
    for (const item of [1, 2, 3]) batcher.add(item)
    await Promise.resolve()
    expect(batches).toEqual([[1, 2]])
    await end(0)
    expect(batches).toEqual([[1, 2], [3]])
  })

  test('deferred with setImmediate, batches the items added in one turn of the event loop', async () => {
    const batches: number[][] = []
    const batcher = openItemBatcher<number>({
      maxItems: 10,
      defer: setImmediate,
      run: async (batch) => void batches.push(batch),
    })
    batcher.add(1)
    await Promise.resolve()
    batcher.add(2)
    await batcher.idle()
    batcher.add(3)
    await batcher.idle()
    expect(batches).toEqual([[1, 2], [3]])
  })

  test('runs an item that a batch puts back with the next batch', async () => {
    const batches: string[][] = []
    const batcher = openItemBatcher<string>({
      maxItems: 10,
      run: async (batch) => {
        batches.push(batch)
        if (batches.length === 1) batcher.add('again')
      },
    })
    batcher.add('first')
    await batcher.idle()
    expect(batches).toEqual([['first'], ['again']])
  })

  test('does what follows a batch once the next one is on its way, and is idle only after it', async () => {
    const seen: string[] = []
    const batcher = openItemBatcher<string>({
      maxItems: 1,
      run: async ([item]) => {
        seen.push(`run ${item}`)
        batcher.follow(() => seen.push(`answer ${item}`))
      },
    })
    batcher.add('a')
    batcher.add('b')
    await batcher.idle()
    expect(seen).toEqual(['run a', 'run b', 'answer a', 'answer b'])
  })

  test('is idle when nothing waits and no batch is in flight', async () => {
    const { run, end } = openRuns<string[]>()
    const batcher = openItemBatcher({ maxItems: 1, run })
    await batcher.idle()
    batcher.add('a')
    batcher.add('b')
    let idle = false
    void batcher.idle().then(() => (idle = true))
    await new Promise(setImmediate)
    await end(0)
    expect(idle).toBe(false)
    await end(1)
    expect([idle, batcher.waiting().all]).toEqual([true, 0])
  })
})

describe('the waiting line of a batcher', () => {
  interface Named {
    name: string
    dropAtMs: number
  }
  const open = (run: (items: Named[]) => Promise<void>, now: () => number) => {
    const dropped: string[] = []
    const line = {
      nameOf: ({ name }: Named) => name,
      join: (first: Named, copy: Named) => void (first.dropAtMs = Math.max(first.dropAtMs, copy.dropAtMs)),
      dropAtMs: ({ dropAtMs }: Named) => dropAtMs,
      drop: ({ name }: Named) => void dropped.push(name),
    }
    return { dropped, batcher: openItemBatcher<Named>({ maxItems: 1, run, now, line }) }
  }

  test('reports the age of the oldest item and of the oldest batch', async () => {
    let nowMs = 0
    const { run, end } = openRuns<string[]>()
    const batcher = openItemBatcher<string>({ maxItems: 1, run, now: () => nowMs })
    expect(batcher.waiting()).toEqual({ all: 0, oldestMs: 0, inFlight: 0, inFlightMs: 0 })
    batcher.add('a')
    await Promise.resolve()
    nowMs = 40
    batcher.add('b')
    nowMs = 50
    batcher.add('c')
    expect(batcher.waiting()).toEqual({ all: 2, oldestMs: 10, inFlight: 1, inFlightMs: 50 })
    await end(0)
    nowMs = 53
    expect(batcher.waiting()).toEqual({ all: 1, oldestMs: 3, inFlight: 1, inFlightMs: 3 })
    await end(1)
    await end(2)
    expect(batcher.waiting()).toEqual({ all: 0, oldestMs: 0, inFlight: 0, inFlightMs: 0 })
  })

  test('drops an item past its deadline while a batch hangs', async () => {
    vi.useFakeTimers()
    let nowMs = 0
    const { dropped, batcher } = open(openRuns<Named[]>().run, () => nowMs)
    for (const [name, dropAtMs] of [
      ['a', 9],
      ['b', 1_000],
      ['c', 2_000],
    ] as const)
      batcher.add({ name, dropAtMs })
    await vi.advanceTimersByTimeAsync(0)
    nowMs = 1_000
    await vi.advanceTimersByTimeAsync(250)
    expect([dropped, batcher.waiting().all]).toEqual([['b'], 1])
    nowMs = 2_000
    await vi.advanceTimersByTimeAsync(250)
    expect([dropped, batcher.waiting().all]).toEqual([['b', 'c'], 0])
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  test('keeps the first item of each name, until the latest deadline of its copies', async () => {
    const { batches, run, end } = openRuns<Named[]>()
    const { batcher } = open(run, () => 0)
    batcher.add({ name: 'z', dropAtMs: 9 })
    await Promise.resolve()
    for (const [name, dropAtMs] of [
      ['a', 5],
      ['b', 5],
      ['a', 6],
      ['a', 4],
    ] as const)
      batcher.add({ name, dropAtMs })
    expect(batcher.waiting().all).toBe(2)
    for (let n = 0; n < 3; n++) await end(n)
    expect(batches.flat()).toEqual([
      { name: 'z', dropAtMs: 9 },
      { name: 'a', dropAtMs: 6 },
      { name: 'b', dropAtMs: 5 },
    ])
  })
})

describe('a batcher over a queue of the caller', () => {
  test('keeps at most `concurrency` batches in flight', async () => {
    const queue = ['a', 'b', 'c', 'd']
    const { batches, run, end } = openRuns<string>()
    const batcher = openBatcher({ concurrency: 2, take: () => queue.shift() ?? null, run })
    batcher.wake()
    await Promise.resolve()
    expect([batches, batcher.underWay().inFlight]).toEqual([['a', 'b'], 2])
    await end(1)
    expect([batches, batcher.underWay().inFlight]).toEqual([['a', 'b', 'c'], 2])
    await end(0)
    await end(2)
    await end(3)
    expect([batches, batcher.underWay().inFlight]).toEqual([['a', 'b', 'c', 'd'], 0])
  })

  test('leaves a paused queue alone until it is woken', async () => {
    const queue = ['a']
    let paused = true
    const batches: string[] = []
    const batcher = openBatcher({
      take: () => (paused ? null : (queue.shift() ?? null)),
      run: async (batch) => void batches.push(batch),
    })
    batcher.wake()
    await batcher.idle()
    expect(batches).toEqual([])
    paused = false
    batcher.wake()
    await batcher.idle()
    expect(batches).toEqual(['a'])
  })

  test('takes from any queue, such as a set that merges duplicates', async () => {
    const topics = new Set<string>()
    const published: string[][] = []
    const batcher = openBatcher({
      take: () => {
        if (topics.size === 0) return null
        const batch = [...topics]
        topics.clear()
        return batch
      },
      run: async (batch) => void published.push(batch),
    })
    for (const topic of ['a', 'b', 'a']) {
      topics.add(topic)
      batcher.wake()
    }
    await batcher.idle()
    expect(published).toEqual([['a', 'b']])
  })

  test('runs every item once, for any interleaving of adds and completions', async () => {
    const ran: number[] = []
    let most = 0
    let running = 0
    const batcher = openItemBatcher<number>({
      maxItems: 3,
      concurrency: 2,
      run: async (batch) => {
        most = Math.max(most, ++running)
        if (batch[0]! % 2 === 0) await new Promise(setImmediate)
        ran.push(...batch)
        running--
      },
    })
    for (let item = 0; item < 100; item++) {
      batcher.add(item)
      if (item % 7 === 0) await new Promise(setImmediate)
    }
    await batcher.idle()
    expect(ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, item) => item))
    expect(most).toBe(2)
  })
})
