import { expect, test } from 'vitest'
import { readExpression } from './cel.ts'
import { rememberedByText } from './remembered.ts'
import { readTemplate } from './template.ts'

test('a text is made once, and each text is its own', () => {
  const asked: string[] = []
  const read = rememberedByText((text) => ({ text, n: asked.push(text) }))
  expect([read('one'), read('two'), read('one')].map(({ text }) => text)).toEqual(['one', 'two', 'one'])
  expect(asked).toEqual(['one', 'two'])
})

test('what is remembered has a bound, and a text that is too long for it is made again', () => {
  const asked: string[] = []
  const read = rememberedByText((text) => ({ n: asked.push(text) }))
  for (let n = 0; n < 200; n++) read(`${n} `.padEnd(64 * 1024))
  read('0 '.padEnd(64 * 1024))
  expect(asked).toHaveLength(201)
  const long = 'x'.repeat(5 * 1024 * 1024)
  for (const text of [long, long]) read(text)
  expect(asked).toHaveLength(203)
})

test('templates and expressions are read once, also those that cannot be', () => {
  expect(readTemplate('{{ a }} of {{ b }}')).toBe(readTemplate('{{ a }} of {{ b }}'))
  expect(readExpression('size(a) * 2')).toBe(readExpression('size(a) * 2'))
  expect(readExpression('a +')).toBe(readExpression('a +'))
})
