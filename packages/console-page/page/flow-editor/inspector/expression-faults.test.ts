import { expect, test } from 'vitest'
import { expressionFaults } from './expression-faults.ts'

const marked = (text: string, isTemplate: boolean) =>
  expressionFaults(text, isTemplate).map(({ from, to }) => text.slice(from, to))

test('marks each hole of a template that cannot be read', () => {
  expect(marked('A {{ a + }} and {{ b }} and {{ c( }}.', true)).toEqual(['{{ a + }}', '{{ c( }}'])
  expect(marked('A {{ a', true)).toEqual(['{{ a'])
  expect(marked('A {{ a }}', true)).toEqual([])
})

test('marks an expression that cannot be read, and no empty one', () => {
  expect(marked('size(text) >', false)).toEqual(['size(text) >'])
  expect(marked('size(text) > 4', false)).toEqual([])
  expect(marked(' ', false)).toEqual([])
  expect(expressionFaults('size(', false)[0]!.message).toMatch(/^The expression cannot be read: .*\.$/)
})
