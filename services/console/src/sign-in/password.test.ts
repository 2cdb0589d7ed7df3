import { expect, test } from 'vitest'
import { openPasswords } from './password.ts'

const passwords = openPasswords({ random: (bytes) => new Uint8Array(bytes).fill(7) })
const TURN = [1, '203.0.113.9', 'ada@example.test'] as const

test('a password matches only its own hash', async () => {
  const kept = await passwords.hash(TURN, 'correct horse')
  expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(await passwords.fits(TURN, 'correct horse', kept)).toBe(true)
  expect(await passwords.fits(TURN, 'correct horsf', kept)).toBe(false)
})

test('a password matches in composed and decomposed Unicode form', async () => {
  const kept = await passwords.hash(TURN, 'caf\u00e9 au lait')
  expect(await passwords.fits(TURN, 'cafe\u0301 au lait', kept)).toBe(true)
})

test('verifies a hash created with other cost parameters', async () => {
  // Created with the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
  const kept = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await passwords.fits(TURN, 'password', kept)).toBe(true)
})

test('no password matches for an account without a password', async () => {
  expect(await passwords.fits(TURN, '', null)).toBe(false)
})
