import { expect, test } from 'vitest'
import { hostNames } from './config.ts'

test('parses host names from a comma-separated list, and an unset variable as an empty list', () => {
  expect(hostNames().parse(undefined)).toEqual([])
  expect(hostNames().parse('app.example.com, [fd00::1],localhost ')).toEqual([
    'app.example.com',
    '[fd00::1]',
    'localhost',
  ])
})

test.each(['https://app.example.com', 'app.example.com:8080', 'App.example.com', '*.example.com'])(
  'rejects %s as a host name',
  (text) => {
    expect(hostNames().safeParse(text).error?.issues[0]?.message).toContain('without scheme and port')
  },
)
