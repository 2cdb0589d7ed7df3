import { expect, test } from 'vitest'
import { hashPassword, passwordFits } from './password.ts'

test('a password fits its hash and no other', async () => {
  const kept = await hashPassword('correct horse', new Uint8Array(16).fill(7))
  expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(await passwordFits('correct horse', kept)).toBe(true)
  expect(await passwordFits('correct horsf', kept)).toBe(false)
})

test('a hash made at another cost is still read', async () => {
  // The reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
  const kept = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await passwordFits('password', kept)).toBe(true)
})

test('nobody fits where there is no password', async () => {
  expect(await passwordFits('', null)).toBe(false)
})
