import { describe, expect, test, vi } from 'vitest'
import { openByteBudget } from './byte-budget.ts'

const open = (maxBytes = 100) => openByteBudget({ maxBytes, waitMs: 1_000, whenFull: () => new Error('full') })
const tick = () => new Promise(setImmediate)

/** Requests shares, and records those given so far. */
function asking(budget = open()) {
  const given: string[] = []
  const shares = new Map<string, () => void>()
  return {
    budget,
    given,
    ask(name: string, party: string, bytes: number, signal?: AbortSignal) {
      const share = budget.take(party, bytes, signal)
      void share.then(
        (giveBack) => {
          given.push(name)
          shares.set(name, giveBack)
        },
        () => {},
      )
      return share
    },
    async giveBack(name: string) {
      shares.get(name)!()
      await tick()
    },
  }
}

describe('shares of memory', () => {
  test('never exceed the total, in any order of requests and releases', async () => {
    const { budget, ask, given, giveBack } = asking()
    for (const [n, bytes] of [60, 30, 40, 10].entries()) void ask(String(n), `party ${n}`, bytes)
    await tick()
    expect([given, budget.taken()]).toEqual([['0', '1'], 90])
    await giveBack('0')
    expect([given, budget.taken()]).toEqual([['0', '1', '2', '3'], 80])
    for (const name of ['1', '2', '3', '3']) await giveBack(name)
    expect(budget.taken()).toBe(0)
  })

  test('are given to a large request before smaller ones that came later', async () => {
    const { ask, given, giveBack } = asking()
    void ask('first', 'a', 50)
    void ask('large', 'b', 80)
    void ask('small', 'c', 10)
    await tick()
    expect(given).toEqual(['first'])
    await giveBack('first')
    expect(given).toEqual(['first', 'large', 'small'])
  })

  test('are limited to half per party, and other parties pass its waiting requests', async () => {
    const { ask, given, giveBack } = asking()
    for (const n of [1, 2, 3]) void ask(`busy ${n}`, 'busy', 30)
    void ask('other', 'other', 50)
    await tick()
    expect(given).toEqual(['busy 1', 'other'])
    await giveBack('busy 1')
    expect(given).toEqual(['busy 1', 'other', 'busy 2'])
  })

  test('can be the whole budget for a single request, but not more', async () => {
    const { ask, given, budget } = asking()
    void ask('all', 'a', 100)
    await tick()
    expect(given).toEqual(['all'])
    expect(() => budget.take('b', 101)).toThrow(RangeError)
  })

  test('go to the next waiter if one times out or aborts', async () => {
    vi.useFakeTimers()
    const { ask, given } = asking()
    void ask('first', 'a', 90)
    const leaving = new AbortController()
    const left = ask('left', 'b', 20, leaving.signal)
    void ask('small', 'c', 10)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    await vi.advanceTimersByTimeAsync(0)
    expect(given).toEqual(['first', 'small'])
    const late = ask('late', 'd', 20).catch((error: Error) => error.message)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await late).toBe('full')
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
    await expect(ask('never', 'd', 20, leaving.signal)).rejects.toThrow('gone')
  })
})
