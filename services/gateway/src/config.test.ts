import { expect, test } from 'vitest'
import { hostNames } from './config.ts'

test('names of hosts are read from a list, and none from nothing', () => {
  expect(hostNames().parse(undefined)).toEqual([])
  expect(hostNames().parse('app.example.com, [fd00::1],localhost ')).toEqual([
    'app.example.com',
    '[fd00::1]',
    'localhost',
  ])
})

test.each(['https://app.example.com', 'app.example.com:8080', 'App.example.com', '*.example.com'])(
  '%s is not a name of a host',
  (text) => {
    expect(hostNames().safeParse(text).error?.issues[0]?.message).toContain('without scheme and port')
  },
)
