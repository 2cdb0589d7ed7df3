import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { newServiceKeys, readPrivateKey, readPublicKeys } from './service-keys.ts'

const [one, two, three] = [newServiceKeys(), newServiceKeys(), newServiceKeys()]
const ofAnotherKind = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

test('reads the keys that it makes, also two public keys in one text', () => {
  expect(readPrivateKey(one.privateKey).type).toBe('private')
  expect(readPublicKeys(one.publicKey)).toHaveLength(1)
  expect(readPublicKeys(`${two.publicKey}\n${one.publicKey.trim()}`)).toHaveLength(2)
})

test.each([
  ['an empty text', ''],
  ['a password', 's'.repeat(32)],
  ['a public key', one.publicKey],
  ['a key of another kind', ofAnotherKind.privateKey],
])('refuses %s as a private key', (_what, text) => {
  expect(() => readPrivateKey(text)).toThrow(/^expected a private Ed25519 key/)
})

test.each([
  ['an empty text', ''],
  ['a private key', one.privateKey],
  ['a private key behind a public one', one.publicKey + one.privateKey],
  ['three keys', one.publicKey + two.publicKey + three.publicKey],
  ['a key of another kind', ofAnotherKind.publicKey],
  ['a damaged key', one.publicKey.replace('MCow', 'MCox')],
])('refuses %s as public keys, without quoting it', (_what, text) => {
  expect(() => readPublicKeys(text)).toThrow(/^expected one public Ed25519 key/)
})
