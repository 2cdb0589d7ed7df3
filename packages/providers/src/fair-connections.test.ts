import { describe, expect, onTestFinished, test } from 'vitest'
import { openFairConnections } from './fair-connections.ts'

interface Options {
  connections: number
  maxWaiting?: number
}

/** Connections, and calls that hold them, or wait for one, until the test ends them. */
function openConnections({ connections, maxWaiting = 1_000 }: Options) {
  const served: string[] = []
  const running: (() => void)[] = []
  const shared = openFairConnections({ connections, maxWaiting, refused: (why) => new Error(why) })

  const over = new AbortController()
  onTestFinished(() => over.abort())

  async function call(project: string, { limitMs = 60_000, signal }: { limitMs?: number; signal?: AbortSignal } = {}) {
    const giveBack = await shared.take(project, limitMs, signal ? [signal] : [])
    served.push(project)
    running.push(giveBack)
  }

  /** A call that must not fail. The end of the test ends its wait. */
  function begin(project: string): void {
    call(project, { signal: over.signal }).catch((error: unknown) => {
      if (!over.signal.aborted) throw error
    })
  }

  return {
    ...shared,
    served,
    call,
    begin,
    /** Begins calls, and returns the number of calls served since. */
    async start(project: string, count: number): Promise<number> {
      const before = served.length
      for (let n = 0; n < count; n++) begin(project)
      await settled()
      return served.length - before
    },
    /** Ends the oldest call. Returns the project that got its connection. */
    async end(): Promise<string | undefined> {
      const before = served.length
      running.shift()!()
      await settled()
      return served[before]
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('connections of a provider', () => {
  test.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [10, 8],
    [256, 204],
  ])('of %i, a lone project gets %i, and another one still gets its first', async (connections, alone) => {
    const { start, waiting } = openConnections({ connections })
    expect(await start('busy', connections + 5)).toBe(alone)
    expect(waiting()).toBe(connections + 5 - alone)
    expect(await start('quiet', 1)).toBe(connections > 1 ? 1 : 0)
  })

  test('are at most half used by a project while another one uses any', async () => {
    const { start, used } = openConnections({ connections: 16 })
    await start('quiet', 1)
    expect(await start('busy', 16)).toBe(8)
    expect(await start('third', 1)).toBe(1)
    expect(used()).toBe(10)
  })

  test('go to another project until the one that holds too many is down to its half', async () => {
    const { start, end } = openConnections({ connections: 8 })
    expect(await start('busy', 20)).toBe(6)
    await start('quiet', 4)
    const got: (string | undefined)[] = []
    for (let n = 0; n < 4; n++) got.push(await end())
    expect(got).toEqual(['quiet', 'quiet', 'busy', 'busy'])
  })

  test('go to waiting projects in turn, and to the calls of a project in order', async () => {
    const { start, begin, end, served } = openConnections({ connections: 1 })
    await start('first', 1)
    for (const project of ['a', 'a', 'a', 'b', 'b']) begin(project)
    for (let n = 0; n < 6; n++) await end()
    expect(served).toEqual(['first', 'a', 'b', 'a', 'b', 'a'])
  })
})

describe('a call that waits for a connection', () => {
  test('is refused if it waits too long, and no longer waits', async () => {
    const { start, call, waiting, end, served } = openConnections({ connections: 1 })
    await start('a', 1)
    await expect(call('a', { limitMs: 1 })).rejects.toThrow('late')
    expect(waiting()).toBe(0)
    await end()
    expect(served).toEqual(['a'])
  })

  test('is refused at once if too many wait: one project fills half of the queue', async () => {
    const { start, call, waiting } = openConnections({ connections: 1, maxWaiting: 4 })
    await start('a', 3)
    await expect(call('a')).rejects.toThrow('full')
    expect(await start('b', 1)).toBe(0)
    expect(waiting()).toBe(3)
  })

  test('leaves at once if its signal aborts, and gives its place to the next', async () => {
    const { start, call, end, waiting } = openConnections({ connections: 1 })
    await start('a', 1)
    const leaving = new AbortController()
    const left = call('b', { signal: leaving.signal })
    await start('c', 1)
    leaving.abort(new Error('enough'))
    await expect(left).rejects.toThrow('enough')
    expect(waiting()).toBe(1)
    expect(await end()).toBe('c')
    await expect(call('b', { signal: leaving.signal })).rejects.toThrow('enough')
    expect(await end()).toBeUndefined()
  })
})

test('a connection that is given back twice is free once', async () => {
  const shared = openFairConnections({ connections: 2, maxWaiting: 1, refused: (why) => new Error(why) })
  const giveBack = await shared.take('a', 1, [])
  await shared.take('b', 1, [])
  giveBack()
  giveBack()
  expect(shared.used()).toBe(1)
})
