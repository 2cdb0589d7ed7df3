import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { openTokenSource, openTokenVerifier } from './service-token.ts'

const secrets = { gateway: 'g'.repeat(32), worker: 'w'.repeat(32), console: 'c'.repeat(32) }
const start = Date.UTC(2026, 10, 20)

function clock() {
  let nowMs = start
  return { now: () => nowMs, pass: (ms: number) => (nowMs += ms) }
}

test('a token names its service until it expires', async () => {
  const { now, pass } = clock()
  const token = await openTokenSource({ service: 'worker', secret: secrets.worker, now }).current()
  const verify = openTokenVerifier({ secrets, now })
  expect(await verify(token)).toBe('worker')
  pass(299_000)
  expect(await verify(token)).toBe('worker')
  pass(32_000) // five minutes and half a minute for skewed clocks
  expect(await verify(token)).toBe(null)
})

test('a source signs again a minute before its token expires, and when it is told to', async () => {
  const { now, pass } = clock()
  const source = openTokenSource({ service: 'gateway', secret: secrets.gateway, now })
  const first = await source.current()
  pass(239_000)
  expect(await source.current()).toBe(first)
  pass(1_000)
  const second = await source.current()
  expect(second).not.toBe(first)
  pass(1_000)
  source.renew()
  expect(await source.current()).not.toBe(second)
})

const sign = (claims: Record<string, unknown>, secret: string, alg = 'HS256') =>
  new SignJWT(claims)
    .setProtectedHeader({ alg })
    .sign(Buffer.from(secret.repeat(2)).subarray(0, alg === 'HS256' ? 32 : 64))
const nowS = start / 1000
const good = { iss: 'gateway', aud: 'ledger', iat: nowS, exp: nowS + 300 }

test('the bound of the checks below: such a token is accepted', async () => {
  expect(await openTokenVerifier({ secrets, now: () => start })(await sign(good, secrets.gateway))).toBe('gateway')
})

test.each([
  ['another service in its name', { ...good, iss: 'console' }, secrets.gateway, 'HS256'],
  ['a service nobody knows', { ...good, iss: 'ledger' }, secrets.gateway, 'HS256'],
  ['a name from the prototype', { ...good, iss: '__proto__' }, secrets.gateway, 'HS256'],
  ['no service', { ...good, iss: undefined }, secrets.gateway, 'HS256'],
  ['another audience', { ...good, aud: 'console' }, secrets.gateway, 'HS256'],
  ['another secret', good, 'x'.repeat(32), 'HS256'],
  ['another algorithm', good, secrets.gateway, 'HS512'],
  ['no expiry', { ...good, exp: undefined }, secrets.gateway, 'HS256'],
  ['an expiry far away', { ...good, exp: nowS + 86_400 }, secrets.gateway, 'HS256'],
])('a token with %s is refused', async (_what, claims, secret, alg) => {
  expect(await openTokenVerifier({ secrets, now: () => start })(await sign(claims, secret, alg))).toBe(null)
})

test.each(['', 'garbage', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJnYXRld2F5IiwiYXVkIjoibGVkZ2VyIn0.'])(
  'what is no token is refused: %j',
  async (text) => expect(await openTokenVerifier({ secrets, now: () => start })(text)).toBe(null),
)

test('a token with one changed character is refused', async () => {
  const token = await openTokenSource({ service: 'gateway', secret: secrets.gateway, now: () => start }).current()
  const verify = openTokenVerifier({ secrets, now: () => start })
  for (let at = 0; at < token.length - 1; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    expect(await verify(changed), `at ${at}`).toBe(null)
  }
})

test('a secret of 31 characters is refused at the start', () => {
  const secret = 's'.repeat(31)
  expect(() => openTokenSource({ service: 'gateway', secret, now: () => start })).toThrow(/gateway has fewer than 32/)
  expect(() => openTokenVerifier({ secrets: { gateway: secret }, now: () => start })).toThrow(
    /gateway has fewer than 32/,
  )
})
