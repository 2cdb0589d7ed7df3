import { expect, test } from 'vitest'
import { readExpression } from './cel.ts'
import { rememberedByText } from './remembered.ts'
import { readTemplate } from './template.ts'

test('computes the result for each text once', () => {
  const asked: string[] = []
  const read = rememberedByText((text) => ({ text, n: asked.push(text) }))
  expect([read('one'), read('two'), read('one')].map(({ text }) => text)).toEqual(['one', 'two', 'one'])
  expect(asked).toEqual(['one', 'two'])
})

test('evicts results beyond its bound, and never caches a text that is too long', () => {
  const asked: string[] = []
  const read = rememberedByText((text) => ({ n: asked.push(text) }))
  for (let n = 0; n < 200; n++) read(`${n} `.padEnd(64 * 1024))
  read('0 '.padEnd(64 * 1024))
  expect(asked).toHaveLength(201)
  const long = 'x'.repeat(5 * 1024 * 1024)
  for (const text of [long, long]) read(text)
  expect(asked).toHaveLength(203)
})

test('parses templates and expressions once, even invalid ones', () => {
  expect(readTemplate('{{ a }} of {{ b }}')).toBe(readTemplate('{{ a }} of {{ b }}'))
  expect(readExpression('size(a) * 2')).toBe(readExpression('size(a) * 2'))
  expect(readExpression('a +')).toBe(readExpression('a +'))
})
