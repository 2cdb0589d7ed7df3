import { generateKeyPairSync } from 'node:crypto'
import { importPKCS8, importSPKI, jwtVerify, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { digestOf, openRequestSigner, openRequestVerifier } from './service-token.ts'

const keys = { gateway: newServiceKeys(), worker: newServiceKeys(), console: newServiceKeys() }
const publicKeys = {
  gateway: keys.gateway.publicKey,
  worker: keys.worker.publicKey,
  console: keys.console.publicKey,
}
const silent = { warn: () => {}, error: () => {} }
const verifierAt = (now: () => number) => openRequestVerifier({ publicKeys, now, log: silent })
const signerAt = (now: () => number) =>
  openRequestSigner({ service: 'console', privateKey: keys.console.privateKey, now })
const start = Date.UTC(2026, 10, 20)
const BODY = '{"micro":"1000000"}'

function clock() {
  let nowMs = start
  return { now: () => nowMs, pass: (ms: number) => (nowMs += ms) }
}

test('a token names its service and the digest of its body, until a minute after it expires', async () => {
  const { now, pass } = clock()
  const token = signerAt(now).sign('/fundings', BODY)
  const verify = verifierAt(now)
  const signed = { service: 'console', bodyDigest: digestOf(BODY) }
  expect(await verify(token, '/fundings')).toEqual(signed)
  pass(119_000) // a lifetime of one minute, plus one for clock differences
  expect(await verify(token, '/fundings')).toEqual(signed)
  pass(1_000)
  expect(await verify(token, '/fundings')).toBe(null)
})

test('refuses the token of one operation for another one', async () => {
  const token = signerAt(() => start).sign('/wallets/read', BODY)
  const verify = verifierAt(() => start)
  expect(await verify(token, '/wallets/read')).not.toBe(null)
  for (const path of ['/fundings', '/wallets', '/wallets/read/', '/WALLETS/READ', ''])
    expect([path, await verify(token, path)]).toEqual([path, null])
})

test('every body has another digest, also as bytes', () => {
  expect(digestOf(Buffer.from(BODY))).toBe(digestOf(BODY))
  expect(digestOf(BODY.replace('1', '2'))).not.toBe(digestOf(BODY))
  expect(digestOf('')).not.toBe(digestOf(' '))
})

const nowS = start / 1000
const good = {
  iss: 'gateway',
  aud: 'ledger',
  iat: nowS,
  exp: nowS + 60,
  request: 'POST /fundings',
  body: digestOf(BODY),
}

const sign = async (claims: object, { privateKey } = keys.gateway, header: object = { typ: 'JWT' }) =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', ...header })
    .sign(await importPKCS8(privateKey, 'EdDSA'))

test('a standard library signs and verifies the same tokens', async () => {
  expect(await verifierAt(() => start)(await sign(good), '/fundings')).toEqual({
    service: 'gateway',
    bodyDigest: digestOf(BODY),
  })
  const token = signerAt(() => start).sign('/fundings', BODY)
  const { payload } = await jwtVerify(token, await importSPKI(keys.console.publicKey, 'EdDSA'), {
    audience: 'ledger',
    currentDate: new Date(start),
  })
  expect(payload).toEqual({ ...good, iss: 'console' })
})

test.each([
  ['the name of another service', { ...good, iss: 'console' }],
  ['an unknown service', { ...good, iss: 'ledger' }],
  ['a service named __proto__', { ...good, iss: '__proto__' }],
  ['no service', { ...good, iss: undefined }],
  ['another audience', { ...good, aud: 'console' }],
  ['several audiences', { ...good, aud: ['ledger', 'console'] }],
  ['no expiry', { ...good, exp: undefined }],
  ['an expiry far away', { ...good, exp: nowS + 86_400 }],
  ['a lifetime one second too long', { ...good, iat: nowS - 1 }],
  ['no time of issue', { ...good, iat: undefined }],
  ['an expiry before its time of issue', { ...good, iat: nowS + 59, exp: nowS + 1 }],
  ['no request', { ...good, request: undefined }],
  ['another method', { ...good, request: 'GET /fundings' }],
  ['no digest', { ...good, body: undefined }],
])('refuses a token with %s', async (_what, claims) => {
  expect(await verifierAt(() => start)(await sign(claims), '/fundings')).toBe(null)
})

test.each([
  ['the key of another service', keys.worker, {}],
  ['an unknown key', newServiceKeys(), {}],
  ['another header', keys.gateway, { kid: 'one' }],
])('refuses a token with %s', async (_what, pair, header) => {
  expect(await verifierAt(() => start)(await sign(good, pair, { typ: 'JWT', ...header }), '/fundings')).toBe(null)
})

test('refuses a token that takes the public key for a shared secret', async () => {
  const confused = await new SignJWT(good)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(Buffer.from(keys.gateway.publicKey))
  expect(await verifierAt(() => start)(confused, '/fundings')).toBe(null)
})

test.each(['', 'garbage', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJnYXRld2F5IiwiYXVkIjoibGVkZ2VyIn0.'])(
  'refuses a malformed or unsigned token: %j',
  async (text) => expect(await verifierAt(() => start)(text, '/fundings')).toBe(null),
)

test('refuses a token with one changed, one missing or one additional character', async () => {
  const token = signerAt(() => start).sign('/fundings', BODY)
  const verify = verifierAt(() => start)
  for (let at = 0; at < token.length; at++)
    for (const changed of [
      token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1),
      token.slice(0, at) + token.slice(at + 1),
      `${token.slice(0, at)}=${token.slice(at)}`,
    ])
      expect([at, await verify(changed, '/fundings')]).toEqual([at, null])
  expect(await verify(`${token}=`, '/fundings')).toBe(null)
})

test('refuses any key but an Ed25519 one at startup, without quoting it', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const now = () => start
  expect(() => openRequestSigner({ service: 'gateway', privateKey, now })).toThrow(/^expected a private Ed25519 key/)
  expect(() => openRequestVerifier({ publicKeys: { gateway: publicKey }, now, log: silent })).toThrow(
    /^expected one public Ed25519 key/,
  )
})

test.each([
  [0, null],
  [29, null],
  [45, 'warn'],
  [60, 'warn'],
  [62, 'error'],
  [86_400, 'error'],
  [-29, null],
  [-45, 'warn'],
  [-119, 'warn'], // a token is valid for a minute more
  [-120, 'error'],
  [-86_400, 'error'],
])(
  'accepts a service whose clock is %i s ahead of the ledger’s up to a minute, and logs the difference: %s',
  async (s, shown) => {
    const said: [string, object, string][] = []
    const log = {
      warn: (facts: object, message: string) => void said.push(['warn', facts, message]),
      error: (facts: object, message: string) => void said.push(['error', facts, message]),
    } as unknown as Parameters<typeof openRequestVerifier>[0]['log']
    const verify = openRequestVerifier({ publicKeys, now: () => start, log })
    const token = signerAt(() => start + s * 1_000).sign('/fundings', BODY)
    for (let n = 0; n < 3; n++)
      expect((await verify(token, '/fundings'))?.service ?? null).toBe(shown === 'error' ? null : 'console')
    expect(said.map(([level]) => level)).toEqual(shown === null ? [] : [shown])
    if (shown === null) return
    expect(Object.keys(said[0]![1])).toEqual(['caller', 'apartS', 'toleratedS']) // `service` is who writes the line
    expect(said[0]![2]).toMatch(/^clocks of console and ledger differ/)
  },
)

test('accepts requests signed with the old and the new key while a key is replaced', async () => {
  const now = () => start
  const [old, fresh, other] = [newServiceKeys(), newServiceKeys(), newServiceKeys()]
  const tokenOf = ({ privateKey }: typeof old) =>
    openRequestSigner({ service: 'gateway', privateKey, now }).sign('/', '')
  const accepts = async (...gateway: (typeof old)[]) => {
    const pem = gateway.map(({ publicKey }) => publicKey).join('')
    const verify = openRequestVerifier({ publicKeys: { ...publicKeys, gateway: pem }, now, log: silent })
    return Promise.all([old, fresh, other].map(async (pair) => (await verify(tokenOf(pair), '/')) !== null))
  }
  expect(await accepts(old)).toEqual([true, false, false])
  expect(await accepts(fresh, old)).toEqual([true, true, false])
  expect(await accepts(fresh)).toEqual([false, true, false])
})
