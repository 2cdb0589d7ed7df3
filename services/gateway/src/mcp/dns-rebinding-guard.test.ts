import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { Refusal } from '@gateway/api/refusal'
import { refuseRebinding } from './transport.ts'

const deps = { mcpHosts: ['app.example.com'] }
const request = (headers: Record<string, string>, localAddress = '10.0.0.7') =>
  ({ headers, socket: { localAddress } }) as unknown as IncomingMessage

function isTaken(headers: Record<string, string>, localAddress?: string): boolean {
  try {
    refuseRebinding(deps, request(headers, localAddress))
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal)
    expect(error).toMatchObject({ code: 'not_permitted', status: 403 })
    return false
  }
}

test('accepts browser origins on localhost and on the configured hosts only [not_permitted]', () => {
  expect(isTaken({ host: 'gateway.example.com' })).toBe(true) // no Origin: not a browser
  expect(isTaken({ host: 'x', origin: 'http://localhost:6274' })).toBe(true)
  expect(isTaken({ host: 'x', origin: 'https://app.example.com' })).toBe(true)
  expect(isTaken({ host: 'evil.example.com', origin: 'http://evil.example.com' })).toBe(false)
  expect(isTaken({ host: 'x', origin: 'https://app.example.com.evil.example.com' })).toBe(false)
  expect(isTaken({ host: 'x', origin: 'null' })).toBe(false)
})

test('requires a local or configured Host on loopback, unless a proxy forwarded the request [not_permitted]', () => {
  for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    expect(isTaken({ host: 'localhost:8080' }, own)).toBe(true)
    expect(isTaken({ host: '[::1]:8080' }, own)).toBe(true)
    expect(isTaken({ host: 'app.example.com' }, own)).toBe(true)
    expect(isTaken({ host: 'evil.example.com' }, own)).toBe(false)
    expect(isTaken({ host: 'not a host' }, own)).toBe(false)
    expect(isTaken({}, own)).toBe(false)
    expect(isTaken({ host: 'gateway.example.com', 'x-forwarded-for': '203.0.113.9' }, own)).toBe(true)
  }
})
