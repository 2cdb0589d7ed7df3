import { expect, test } from 'vitest'
import { readRedisUrl, redisUrl } from './open-redis.ts'

test('the address of one server is kept unchanged', () => {
  expect(readRedisUrl('redis://127.0.0.1:6379/2')).toEqual({ kind: 'server', url: 'redis://127.0.0.1:6379/2' })
  expect(readRedisUrl('rediss://user:p%40ss@redis.example')?.kind).toBe('server')
})

test('a Sentinel address names a master, with separate logins', () => {
  const url =
    'redis+sentinel://app:p%40ss@a.example:26380,b.example/main?database=3&sentinelUsername=watch&sentinelPassword=s%2Fx'
  expect(readRedisUrl(url)).toEqual({
    kind: 'sentinel',
    sentinels: [
      { host: 'a.example', port: 26380 },
      { host: 'b.example', port: 26379 },
    ],
    master: 'main',
    database: 3,
    login: { username: 'app', password: 'p@ss' },
    sentinelLogin: { username: 'watch', password: 's/x' },
    tls: false,
  })
})

test('a Cluster address lists some of its nodes', () => {
  expect(readRedisUrl('rediss+cluster://:secret@a:7000,[::1]:7001,c')).toEqual({
    kind: 'cluster',
    nodes: [
      { host: 'a', port: 7000 },
      { host: '::1', port: 7001 },
      { host: 'c', port: 6379 },
    ],
    login: { password: 'secret' },
    tls: true,
  })
})

test.each([
  'localhost:6379',
  'redis://',
  'http://127.0.0.1:6379',
  'redis+sentinel://a:26379',
  'redis+sentinel://a:26379/',
  'redis+sentinel://a:99999/main',
  'redis+sentinel://a/main?database=one',
  'redis+sentinel://a/main?unknown=1',
  'redis+cluster://a:7000,/',
  'redis+cluster://a:7000/2',
  'redis+cluster://',
  'redis+cluster://%zz@a:7000',
])('%s is refused as an address of Redis', (text) => {
  const read = redisUrl().safeParse(text)
  expect(read.success).toBe(false)
  expect(read.error?.issues[0]?.message).toMatch(/^expected redis:\/\//)
})
