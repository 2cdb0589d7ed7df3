import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { openTokenSource, openTokenVerifier } from './service-token.ts'

const secrets = { gateway: 'g'.repeat(32), worker: 'w'.repeat(32), console: 'c'.repeat(32) }
const known = { gateway: [secrets.gateway], worker: [secrets.worker], console: [secrets.console] }
const silent = { warn: () => {}, error: () => {} }
const verifierAt = (now: () => number) => openTokenVerifier({ secrets: known, now, log: silent })
const start = Date.UTC(2026, 10, 20)

function clock() {
  let nowMs = start
  return { now: () => nowMs, pass: (ms: number) => (nowMs += ms) }
}

test('a token names its service until it expires', async () => {
  const { now, pass } = clock()
  const token = await openTokenSource({ service: 'worker', secret: secrets.worker, now }).current()
  const verify = verifierAt(now)
  expect(await verify(token)).toBe('worker')
  pass(299_000)
  expect(await verify(token)).toBe('worker')
  pass(600_000) // five minutes, plus ten for clock differences
  expect(await verify(token)).toBe('worker')
  pass(2_000)
  expect(await verify(token)).toBe(null)
})

test('signs a new token a minute before the old one expires, and on request', async () => {
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

test('accepts the valid token that the tests below vary', async () => {
  expect(await verifierAt(() => start)(await sign(good, secrets.gateway))).toBe('gateway')
})

test.each([
  ['the name of another service', { ...good, iss: 'console' }, secrets.gateway, 'HS256'],
  ['an unknown service', { ...good, iss: 'ledger' }, secrets.gateway, 'HS256'],
  ['a service named __proto__', { ...good, iss: '__proto__' }, secrets.gateway, 'HS256'],
  ['no service', { ...good, iss: undefined }, secrets.gateway, 'HS256'],
  ['another audience', { ...good, aud: 'console' }, secrets.gateway, 'HS256'],
  ['another secret', good, 'x'.repeat(32), 'HS256'],
  ['another algorithm', good, secrets.gateway, 'HS512'],
  ['no expiry', { ...good, exp: undefined }, secrets.gateway, 'HS256'],
  ['an expiry far away', { ...good, exp: nowS + 86_400 }, secrets.gateway, 'HS256'],
  ['a lifetime one second too long', { ...good, iat: nowS - 1 }, secrets.gateway, 'HS256'],
  ['no time of issue', { ...good, iat: undefined }, secrets.gateway, 'HS256'],
  ['an expiry before its time of issue', { ...good, iat: nowS + 301 }, secrets.gateway, 'HS256'],
])('refuses a token with %s', async (_what, claims, secret, alg) => {
  expect(await verifierAt(() => start)(await sign(claims, secret, alg))).toBe(null)
})

test.each(['', 'garbage', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJnYXRld2F5IiwiYXVkIjoibGVkZ2VyIn0.'])(
  'refuses a malformed or unsigned token: %j',
  async (text) => expect(await verifierAt(() => start)(text)).toBe(null),
)

test('refuses a token with one changed character', async () => {
  const token = await openTokenSource({ service: 'gateway', secret: secrets.gateway, now: () => start }).current()
  const verify = verifierAt(() => start)
  for (let at = 0; at < token.length - 1; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    expect(await verify(changed), `at ${at}`).toBe(null)
  }
})

test('refuses a secret of 31 characters at startup', () => {
  const secret = 's'.repeat(31)
  expect(() => openTokenSource({ service: 'gateway', secret, now: () => start })).toThrow(/gateway has fewer than 32/)
  const later = { gateway: [secrets.gateway, secret] }
  expect(() => openTokenVerifier({ secrets: later, now: () => start, log: silent })).toThrow(
    /gateway has fewer than 32/,
  )
})

test.each([
  [0, null],
  [29, null],
  [45, 'warn'],
  [240, 'warn'],
  [599, 'warn'],
  [601, 'error'],
  [86_400, 'error'],
  [-29, null],
  [-45, 'warn'],
  [-599, 'warn'],
  [-841, 'error'], // a token is valid for five minutes more
  [-86_400, 'error'],
])(
  'accepts a service whose clock is %i s ahead of the ledger’s up to ten minutes, and logs the difference: %s',
  async (s, shown) => {
    const said: [string, object, string][] = []
    const log = {
      warn: (facts: object, message: string) => void said.push(['warn', facts, message]),
      error: (facts: object, message: string) => void said.push(['error', facts, message]),
    } as unknown as Parameters<typeof openTokenVerifier>[0]['log']
    const { now, pass } = clock()
    const source = openTokenSource({ service: 'gateway', secret: secrets.gateway, now: () => now() + s * 1_000 })
    const verify = openTokenVerifier({ secrets: known, now, log })
    const token = await source.current()
    if (s < 0) pass(239_000) // as old as a token gets: the worst moment for a clock that is behind
    for (let n = 0; n < 3; n++) expect(await verify(token)).toBe(shown === 'error' ? null : 'gateway')
    expect(said.map(([level]) => level)).toEqual(shown === null ? [] : [shown])
    if (shown !== null) expect(said[0]![2]).toMatch(/^clocks of gateway and ledger differ/)
  },
)

test('accepts tokens of both the old and the new secret while a secret is replaced', async () => {
  const now = () => start
  const [old, fresh, other] = ['o', 'n', 'x'].map((letter) => letter.repeat(32)) as [string, string, string]
  const tokenOf = (secret: string) => openTokenSource({ service: 'gateway', secret, now }).current()
  const verifies = async (...gateway: string[]) => {
    const verify = openTokenVerifier({ secrets: { ...known, gateway }, now, log: silent })
    return [await verify(await tokenOf(old)), await verify(await tokenOf(fresh)), await verify(await tokenOf(other))]
  }
  expect(await verifies(old)).toEqual(['gateway', null, null])
  expect(await verifies(fresh, old)).toEqual(['gateway', 'gateway', null])
  expect(await verifies(fresh)).toEqual([null, 'gateway', null])
})
