import { expect, test } from 'vitest'
import { secretInAddress } from './link-secret.ts'

test.for([
  [`#${'a'.repeat(43)}`, 'a'.repeat(43)],
  ['a'.repeat(43), 'a'.repeat(43)],
  [`#${'a'.repeat(42)}`, null],
  [`#${'a'.repeat(43)}/`, null],
  ['', null],
] as const)('reads the secret of a link from the fragment: %s', ([hash, secret]) => {
  expect(secretInAddress(hash)).toBe(secret)
})
