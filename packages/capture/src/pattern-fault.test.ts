import { expect, test } from 'vitest'
import { patternFault } from './hide-text.ts'

test.for(['CUST-[0-9]+', '(?i)falcon', '[\\p{L}]{3}', '\\bsecret\\b'])('takes %s', (pattern) => {
  expect(patternFault(pattern)).toBeNull()
})

test.for<[string, string]>([
  ['(', 'RE2 syntax'],
  ['(?<=a)b', 'RE2 syntax'],
  ['(a)\\1', 'RE2 syntax'],
  ['((a{1000}){1000}){1000}', 'RE2 syntax'],
  ['a*', 'empty text'],
  ['\\b', 'would match everywhere'],
])('refuses %s', ([pattern, why]) => {
  expect(patternFault(pattern)).toContain(why)
})
