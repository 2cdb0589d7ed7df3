import { expect, test } from 'vitest'
import { openApp } from './routes.ts'
import { isTrustedBy, trustedProxies, trustProxies } from './connections.ts'

test('TRUSTED_PROXIES accepts addresses, ranges and private range names, and refuses others with an example', () => {
  const proxies = trustedProxies()
  expect(proxies.parse(undefined)).toEqual([])
  expect(proxies.parse(' 10.0.0.0/8, loopback,2001:db8::1 ')).toEqual(['10.0.0.0/8', 'loopback', '2001:db8::1'])
  expect(proxies.safeParse('ingress.example.com').error?.issues[0]?.message).toContain('such as 10.0.0.0/8')
})

test('isTrustedBy trusts only the configured peers, and none by default', () => {
  const app = openApp()
  trustProxies(app, [])
  expect(isTrustedBy(app)('127.0.0.1')).toBe(false)
  trustProxies(app, ['10.0.0.0/8'])
  expect(['10.1.2.3', '11.1.2.3'].map(isTrustedBy(app))).toEqual([true, false])
})
