import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('the defaults are a bounded number of requests and seconds, and a new seed', () => {
  expect(readArguments([], 7)).toEqual({ requests: 20_000, seed: 7, seconds: 3_600 })
})

test('options set the requests, the seed and the seconds', () => {
  const words = ['--requests', '200000', '--seed', '0', '--seconds', '60']
  expect(readArguments(words, 7)).toEqual({ requests: 200_000, seed: 0, seconds: 60 })
})

test.each([
  [['--requests', '0'], '--requests must be an integer from 1 to 10000000.'],
  [['--requests', 'many'], '--requests must be an integer from 1 to 10000000.'],
  [['--seed', '1.5'], '--seed must be an integer from 0 to 4294967295.'],
  [['--seconds', ''], '--seconds must be an integer from 1 to 86400.'],
  [['--often'], "Unknown option '--often'"],
  [['more'], "Unexpected argument 'more'"],
])('refuses %j with the valid values and the usage', (words, message) => {
  const read = readArguments(words, 7)
  expect(read).toEqual({ usage: expect.stringContaining(message), wrong: true })
  expect(read).toEqual({ usage: expect.stringContaining('npm run fuzz'), wrong: true })
})

test('--help prints the usage', () => {
  expect(readArguments(['--help'], 7)).toEqual({ usage: expect.stringContaining('npm run fuzz'), wrong: false })
})
