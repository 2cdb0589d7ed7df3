import { expect, test as base } from 'vitest'
import { tokenizers } from './texts.fixture.ts'
import { openTextAccumulator, openTokenCounter, type TokenCounter } from './token-counter.ts'

const test = base
  .extend('warnings', () => [] as unknown[])
  .extend('open', ({ warnings }, { onCleanup }) => {
    const counters: TokenCounter[] = []
    onCleanup(async () => {
      for (const counter of counters) await counter.close()
    })
    return (options: Partial<Parameters<typeof openTokenCounter>[0]> = {}) => {
      const log = { warn: (facts: unknown) => void warnings.push(facts) }
      const counter = openTokenCounter({ log, threads: 1, ...options })
      counters.push(counter)
      return counter
    }
  })
  .extend('counter', ({ open }) => open())

const ask = (texts: string[], project = 'prj_1', family: keyof typeof tokenizers = 'o200k_base') => ({
  texts,
  project,
  family,
})
/** Text without repeated parts. */
const prose = (name: string, words: number) =>
  Array.from({ length: words }, (_, n) => ` ${name} said ${n} again,`).join('')

/** Text of this many characters; a thread takes some 16,000 at once, and the rest wait. */
const long = (name: string, characters: number) => prose(name, characters).slice(0, characters)

test('counts a text as its tokenizer does, with special tokens as plain text', async ({ counter, warnings }) => {
  expect(await counter.count('', 'prj_1')).toBe(0)
  expect(await counter.count('one two three four five', 'prj_1')).toBe(5)
  expect(await counter.count('<|endoftext|>', 'prj_1')).toBeGreaterThan(1)
  expect(warnings).toEqual([])
})

test('counts with the tokenizer of each family, with the same result every time', async ({ counter, warnings }) => {
  const texts = ['Größenordnungen 漢字かな交じり文', prose('Max', 2_000)]
  for (const family of ['o200k_base', 'cl100k_base', 'o200k_base'] as const) {
    const wanted = texts.reduce((sum, text) => sum + tokenizers[family](text), 0)
    expect(await counter.countAtMost(ask(texts, 'prj_1', family))).toBe(wanted)
  }
  expect(await counter.countAtMost(ask([], 'prj_1', 'cl100k_base'))).toBe(0)
  expect(warnings).toEqual([])
})

test('counts a very long word and a long run of emoji', async ({ counter, warnings }) => {
  const long = 'a'.repeat(128_000)
  expect(await counter.countAtMost(ask([long]))).toBe(16_000)
  expect(await counter.countAtMost(ask(['😀'.repeat(32_000)]))).toBe(32_000)
  expect(warnings).toEqual([])
})

test('leaves room in a bound, not in a charge, for characters that providers may split on', async ({ counter }) => {
  const text = 'one\ufefftwo'
  const tokens = await counter.count(text, 'prj_1')
  expect(tokens).toBe(3)
  expect(await counter.countAtMost(ask([text]))).toBe(tokens + 4)
})

test('counts the same text once for concurrent questions', async ({ open }) => {
  const text = long('Eva', 16_000)
  const counter = open({ maxWaiting: text.length })
  const together = Array.from({ length: 20 }, () => counter.countAtMost(ask([text])))
  const other = counter.countAtMost(ask([long('Max', 16_000)])) // it fits, because none of them waits
  expect(new Set(await Promise.all(together))).toEqual(new Set([tokenizers.o200k_base(text)]))
  expect(await other).toEqual(expect.any(Number))
})

test('caches a count for its project only', async ({ open }) => {
  const text = prose('Eva', 400)
  const longer = text + prose('Ida', 10)
  const counter = open({ maxWaiting: text.length })
  const tokens = await counter.countAtMost(ask([text]))
  await counter.close() // its thread is gone, and a new one would have to load the tables first
  const ended: string[] = []
  await Promise.all([
    counter.countAtMost(ask([text], 'prj_2')).then((again) => ended.push(`again ${again}`)),
    counter.countAtMost(ask([longer])).then((again) => ended.push(`the end of it again ${again}`)),
    counter.countAtMost(ask([text])).then((again) => ended.push(`known ${again}`)),
  ])
  expect(ended[0]).toBe(`known ${tokens}`)
  expect(ended).toContain(`again ${tokens}`)
  expect(ended).toContain(`the end of it again ${tokenizers.o200k_base(longer)}`)
})

test('a project waits for one turn of another one, not for its whole burst', async ({ counter }) => {
  await counter.countAtMost(ask(['the tables are read']))
  const ended: string[] = []
  const burst = Array.from({ length: 30 }, (_, n) =>
    counter.countAtMost(ask([prose(`burst ${n}`, 5_000)], 'prj_busy')).then(() => ended.push('burst')),
  )
  await counter.countAtMost(ask([prose('quiet', 50)], 'prj_quiet')).then(() => ended.push('quiet'))
  expect(ended.filter((which) => which === 'burst').length).toBeLessThan(3)
  await Promise.all(burst)
  expect(ended).toHaveLength(31)
})

test('does not count beyond the room of a project, and still counts for another one', async ({ open }) => {
  const counter = open({ maxWaiting: 50_000 })
  const asked = ['one', 'two', 'three', 'four'].map((name) => counter.countAtMost(ask([long(name, 20_000)])))
  const other = counter.countAtMost(ask([long('five', 20_000)], 'prj_2'))
  const tokens = expect.any(Number) as number
  expect(await Promise.all(asked)).toEqual([tokens, tokens, null, null])
  expect(await other).toEqual(tokens)
  expect(await counter.countAtMost(ask([long('four', 20_000)]))).toEqual(tokens) // there is room again
})

test('returns a cached count even if the queue is full', async ({ open }) => {
  const counter = open({ maxWaiting: 30_000 })
  const known = await counter.countAtMost(ask(['known']))
  const asked = [
    counter.countAtMost(ask([long('one', 20_000)])),
    counter.countAtMost(ask([long('two', 10_000)])),
    counter.countAtMost(ask([long('three', 16_000)], 'prj_2')),
  ]
  expect(await counter.countAtMost(ask(['new']))).toBe(null)
  expect(await counter.countAtMost(ask(['known']))).toBe(known)
  expect(await Promise.all(asked)).not.toContain(null)
})

test('a quiet project does not wait for the long words of a busy one', async ({ counter }) => {
  await counter.countAtMost(ask(['the tables are read']))
  const ended: string[] = []
  const burst = Array.from({ length: 12 }, (_, n) =>
    counter.countAtMost(ask([`${n}${'abcdefgh'.repeat(15_000)}`], 'prj_busy')).then(() => ended.push('burst')),
  )
  await counter.countAtMost(ask([long('quiet', 12_000)], 'prj_quiet')).then(() => ended.push('quiet'))
  expect(ended.indexOf('quiet')).toBeLessThan(3)
  await Promise.all(burst)
})

test('estimates a count for a charge, but never one for a bound', async ({ open }) => {
  const full = open({ maxWaiting: 0 })
  expect(await full.countAtMost(ask(['x'.repeat(400)]))).toBe(null)
  expect(await full.count('x'.repeat(400), 'prj_1')).toBe(100)
})

test('does not count a text that has waited too long', async ({ open }) => {
  let nowMs = 0
  const late = open({ limitMs: 1_000, now: () => (nowMs += 1_000) })
  expect(await late.countAtMost(ask(['one']))).toBe(null)
})

test('replaces a thread that is too slow or fails', async ({ open, counter, warnings }) => {
  expect(await open({ threadLimitMs: 1 }).countAtMost(ask(['one']))).toBe(null)
  expect(warnings).toHaveLength(1)
  expect(await counter.countAtMost(ask(['x'], 'prj_1', 'no_such_base' as never))).toBe(null)
  expect(warnings).toHaveLength(2)
  expect(await counter.countAtMost(ask(['x']))).toBe(1)
})

test('does not count texts that still wait when it closes', async ({ open }) => {
  const closing = open()
  const asked = [prose('one', 4_000), prose('two', 4_000)].map((text) => closing.countAtMost(ask([text])))
  await closing.close()
  expect(await Promise.all(asked)).toEqual([null, null])
})

base.for([
  [{ reasoning_content: 'a b' }, 'a b'],
  [{ reasoning: 'a b' }, 'a b'],
  [{ reasoning_content: 'a b', reasoning: 'a b' }, 'a b'],
  [{ reasoning_content: '', reasoning: 'a b' }, 'a b'],
  [{ content: 'c', refusal: 'd', reasoning_content: 'a b', reasoning: 'a b' }, 'cda b'],
] as const)('the text of an answer has the reasoning of %j once', ([delta, text]) => {
  const answered = openTextAccumulator()
  answered.append(delta)
  expect(answered.text()).toBe(text)
})
