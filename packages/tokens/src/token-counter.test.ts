import { expect, test as base } from 'vitest'
import { openTokenCounter } from './token-counter.ts'

const test = base
  .extend('warnings', () => [] as unknown[])
  .extend('counter', ({ warnings }, { onCleanup }) => {
    const counter = openTokenCounter({ log: { warn: (facts: unknown) => void warnings.push(facts) } })
    onCleanup(() => counter.close())
    return counter
  })

test('a text is counted as a tokenizer counts it, also what looks like a steering token', async ({
  counter,
  warnings,
}) => {
  expect(await counter.count('')).toBe(0)
  expect(await counter.count('one two three four five')).toBe(5)
  expect(await counter.count('<|endoftext|>')).toBeGreaterThan(1)
  expect(warnings).toEqual([])
})

test('a long word and a long row of emoji are counted too', async ({ counter, warnings }) => {
  expect(await counter.count('a'.repeat(128_000))).toBeGreaterThan(10_000)
  expect(await counter.count('😀'.repeat(32_000))).toBeGreaterThan(10_000)
  expect(warnings).toEqual([])
})

test('what takes too long or comes too thick is estimated from its bytes', async ({ warnings }) => {
  const hasty = openTokenCounter({ log: { warn: (facts: unknown) => void warnings.push(facts) }, limitMs: 0 })
  expect(await hasty.count('x'.repeat(400))).toBe(100)
  expect(warnings).toHaveLength(1)
  const small = openTokenCounter({ log: { warn() {} }, maxWaiting: 0 })
  expect(await small.count('x'.repeat(400))).toBe(100)
})

test('each family counts in its own way, and every text', async ({ counter, warnings }) => {
  const text = 'Größenordnungen 漢字かな交じり文'
  const [newer, older] = [
    await counter.countAtMost([text], 'o200k_base'),
    await counter.countAtMost([text], 'cl100k_base'),
  ]
  expect(newer).toBeLessThan(older!)
  expect(await counter.countAtMost([text, text], 'o200k_base')).toBe(2 * newer!)
  expect(await counter.countAtMost([], 'cl100k_base')).toBe(0)
  expect(warnings).toEqual([])
})

test('a count at most is never estimated', async ({ warnings }) => {
  const log = { warn: (facts: unknown) => void warnings.push(facts) }
  const hasty = openTokenCounter({ log, limitMs: 0 })
  expect(await hasty.countAtMost(['x'], 'o200k_base')).toBe(null)
  expect(await openTokenCounter({ log, maxWaiting: 0 }).countAtMost(['x'], 'o200k_base')).toBe(null)
})

test('a thread that fails is followed by another', async ({ counter, warnings }) => {
  expect(await counter.countAtMost(['x'], 'no_such_base' as never)).toBe(null)
  expect(warnings).toHaveLength(1)
  expect(await counter.countAtMost(['x'], 'o200k_base')).toBe(1)
})
