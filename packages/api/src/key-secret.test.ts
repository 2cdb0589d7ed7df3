import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import { isWellFormedSecret, KEY_SECRET_PREFIX, makeSecret, USER_TOKEN_PREFIX } from './ids.ts'

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
const prefix = fc.constantFrom(KEY_SECRET_PREFIX, USER_TOKEN_PREFIX)
const BASE62 = /^[0-9A-Za-z]+$/

// spec: 0/s3, 2.1/r1
test('a secret is its prefix, 43 characters of the random bytes and 6 of checksum', () => {
  fc.assert(
    fc.property(prefix, bytes, (prefix, random) => {
      const secret = makeSecret(prefix, random)
      expect(secret).toHaveLength(4 + 43 + 6)
      expect(secret.startsWith(prefix)).toBe(true)
      expect(secret.slice(4)).toMatch(BASE62)
      expect(isWellFormedSecret(prefix, secret)).toBe(true)
    }),
  )
})

test('a secret preserves its random bytes, so different bytes never share one', () => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  fc.assert(
    fc.property(bytes, (random) => {
      let value = 0n
      for (const character of makeSecret('svc_', random).slice(4, 47))
        value = value * 62n + BigInt(digits.indexOf(character))
      expect(value.toString(16).padStart(64, '0')).toBe(Buffer.from(random).toString('hex'))
    }),
  )
})

test('the smallest and the largest bytes have the same width', () => {
  expect(makeSecret('svc_', new Uint8Array(32)).slice(4, 47)).toBe('0'.repeat(43))
  expect(makeSecret('svc_', new Uint8Array(32).fill(255))).toHaveLength(53)
})

test('the checksum is the CRC-32 of all characters before it', () => {
  fc.assert(
    fc.property(prefix, bytes, (prefix, random) => {
      const secret = makeSecret(prefix, random)
      const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
      const sum = Array.from(secret.slice(-6)).reduce((value, character) => value * 62 + digits.indexOf(character), 0)
      expect(sum).toBe(crc32(secret.slice(0, -6)))
    }),
  )
})

test('a secret with one changed character is refused, at any position', () => {
  fc.assert(
    fc.property(bytes, fc.nat({ max: 48 }), fc.nat({ max: 60 }), (random, at, by) => {
      const secret = makeSecret('svc_', random)
      const others = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.replace(secret[4 + at]!, '')
      const changed = secret.slice(0, 4 + at) + others[by] + secret.slice(5 + at)
      expect(isWellFormedSecret('svc_', changed)).toBe(false)
    }),
    { numRuns: 2_000 * inject('propertyShare') },
  )
})

test('a secret with two adjacent characters swapped is refused', () => {
  fc.assert(
    fc.property(bytes, fc.nat({ max: 47 }), (random, at) => {
      const secret = makeSecret('svc_', random)
      const [one, two] = [secret[4 + at]!, secret[5 + at]!]
      fc.pre(one !== two)
      expect(isWellFormedSecret('svc_', secret.slice(0, 4 + at) + two + one + secret.slice(6 + at))).toBe(false)
    }),
  )
})

test('the secret of a key is not accepted as a token of a user, nor the reverse', () => {
  const random = randomBytes(32)
  expect(isWellFormedSecret('svu_', makeSecret('svc_', random))).toBe(false)
  expect(isWellFormedSecret('svc_', makeSecret('svu_', random))).toBe(false)
  expect(isWellFormedSecret('svu_', 'svu_' + makeSecret('svc_', random).slice(4))).toBe(false)
})

test.each(['', 'svc_', 'svc_' + 'a'.repeat(49), ' svc_', 'svc_' + 'é'.repeat(49)])('refuses %j', (text) => {
  expect(isWellFormedSecret('svc_', text)).toBe(false)
})

test('a secret with surrounding characters is refused', () => {
  const secret = makeSecret('svc_', randomBytes(32))
  for (const text of [
    `${secret}\n`,
    ` ${secret}`,
    `${secret} `,
    `${secret}0`,
    secret.slice(0, -1),
    secret.toUpperCase(),
  ])
    expect(isWellFormedSecret('svc_', text)).toBe(false)
})

// spec: 2.1/r1
test('a hundred thousand random secrets are all different', () => {
  const seen = new Set<string>()
  for (let n = 0; n < 100_000; n++) seen.add(makeSecret('svc_', createHash('sha256').update(`${n}`).digest()))
  expect(seen.size).toBe(100_000)
})
