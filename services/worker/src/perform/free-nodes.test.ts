import { expect, onTestFinished, test } from 'vitest'
import { openFreeNodes } from './free-nodes.ts'

function open() {
  const troubles: unknown[] = []
  const nodes = openFreeNodes({ onTrouble: (reason) => troubles.push(reason) })
  onTestFinished(() => nodes.close())
  const run = (expression: string, text: string) =>
    nodes.run({ node: { id: 'n', kind: 'expression', expression }, inputs: { text }, contract: null })
  return { run, troubles }
}

test('a free node gives the same result whether it needs few steps or many', async () => {
  const { run, troubles } = open()
  const count = 'size(text.split("").filter(c, c == "x"))'
  const of = (value: number) => ({ kind: 'succeeded', output: { value }, ports: ['value'] })
  expect(await run(count, 'xyx')).toEqual(of(2))
  expect(await run(count, 'xy'.repeat(10_000))).toEqual(of(10_000))
  expect(troubles).toEqual([])
})

test('a free node that needs too many steps fails [expression_failed]', async () => {
  const { run } = open()
  expect(await run('text.split("").exists(c, c == "z")', 'x'.repeat(60_000))).toMatchObject({
    kind: 'failed',
    error: { code: 'expression_failed' },
  })
})

test('the process does other work while free nodes with many steps run', async () => {
  const { run } = open()
  const exhaust = () => run('text.split("").exists(c, c == "z")', 'x'.repeat(60_000))
  await exhaust()
  let turns = 0
  let done = false
  const all = Promise.all(Array.from({ length: 20 }, exhaust)).finally(() => (done = true))
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  await all
  expect(turns).toBeGreaterThan(100)
})
