import { expect, test } from 'vitest'
import { base32, codeAt, matchingStep, otpauthUri } from './totp.ts'

const secret = Buffer.from('12345678901234567890')
const nowMs = 1_111_111_109_000
const step = Math.floor(nowMs / 30_000)

// RFC 6238, appendix B
test.for([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
] as const)('computes the code of RFC 6238 for second %i', ([seconds, code]) => {
  expect(codeAt(secret, Math.floor(seconds / 30), 8)).toBe(code)
})

test('accepts a code one step early and one step late, and no further', () => {
  const accepted = [-2, -1, 0, 1, 2].map((by) =>
    matchingStep(secret, codeAt(secret, step + by), { nowMs, lastStep: 0 }),
  )
  expect(accepted).toEqual([null, step - 1, step, step + 1, null])
})

test('accepts no code of the last accepted step or before', () => {
  const at = (by: number, lastStep: number) => matchingStep(secret, codeAt(secret, step + by), { nowMs, lastStep })
  expect([at(0, step), at(-1, step), at(1, step), at(0, step - 1)]).toEqual([null, null, step + 1, step])
})

test.for(['', '08180', '0818044', '081805', 'abcdef', '０８１８０４'])('rejects %j', (code) => {
  expect(matchingStep(secret, code, { nowMs, lastStep: 0 })).toBeNull()
})

// RFC 4648, section 10
test.for([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
] as const)('encodes %j in base32', ([text, encoded]) => {
  expect(base32(Buffer.from(text))).toBe(encoded)
})

test('writes an address that keeps issuer and account apart', () => {
  expect(otpauthUri(secret, { issuer: 'models.example.com', account: 'ada+1@example.com' })).toBe(
    'otpauth://totp/models.example.com:ada%2B1%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=models.example.com',
  )
})
