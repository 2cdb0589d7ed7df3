import { expect, test } from 'vitest'
import { openPasswords } from './password.ts'

const passwords = openPasswords({ random: (bytes) => new Uint8Array(bytes).fill(7) })

test('a password fits its hash and no other', async () => {
  const kept = await passwords.hash('correct horse')
  expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(await passwords.fits('correct horse', kept)).toBe(true)
  expect(await passwords.fits('correct horsf', kept)).toBe(false)
})

test('a letter with its accent alongside it is the letter with its accent on it', async () => {
  const kept = await passwords.hash('caf\u00e9 au lait')
  expect(await passwords.fits('cafe\u0301 au lait', kept)).toBe(true)
})

test('a hash made at another cost is still read', async () => {
  // The reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
  const kept = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await passwords.fits('password', kept)).toBe(true)
})

test('no one fits where there is no password', async () => {
  expect(await passwords.fits('', null)).toBe(false)
})
