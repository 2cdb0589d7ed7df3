import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('readArguments selects all mutations of HEAD by default', () => {
  expect(readArguments([], ['one'])).toEqual({ only: null, at: null, list: false })
})

test('options select mutations, another commit, or only the list', () => {
  const words = ['--only', 'one,two', '--at', 'v1', '--list']
  expect(readArguments(words, ['one', 'two'])).toEqual({ only: ['one', 'two'], at: 'v1', list: true })
})

test('an unknown mutation and an unknown option are refused with the usage', () => {
  for (const words of [['--only', 'one,three'], ['--often']])
    expect(readArguments(words, ['one'])).toEqual({ usage: expect.stringContaining('npm run mutations'), wrong: true })
  expect(readArguments(['--help'], ['one'])).toMatchObject({ wrong: false })
})
