import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('without words all mutations of HEAD are tried', () => {
  expect(readArguments([], ['one'])).toEqual({ only: null, at: null, list: false })
})

test('some mutations, another commit and the list alone are asked for by options', () => {
  const words = ['--only', 'one,two', '--at', 'v1', '--list']
  expect(readArguments(words, ['one', 'two'])).toEqual({ only: ['one', 'two'], at: 'v1', list: true })
})

test('a mutation that is not there and an option that is not there are refused with the usage', () => {
  for (const words of [['--only', 'one,three'], ['--often']])
    expect(readArguments(words, ['one'])).toEqual({ usage: expect.stringContaining('npm run mutations'), wrong: true })
  expect(readArguments(['--help'], ['one'])).toMatchObject({ wrong: false })
})
