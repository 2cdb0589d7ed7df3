import { expect, test } from 'vitest'
import { errorCode } from './error-facts.ts'

const bodyWith = (error: object) => JSON.stringify({ error })

test.for([
  [{ code: 'context_length_exceeded', type: 'invalid_request_error' }, 'context_length_exceeded'],
  [{ type: 'overloaded_error' }, 'overloaded_error'],
  [{ code: null, type: 'insufficient.quota' }, 'insufficient.quota'],
] as const)('reads from %j the code %s', ([error, code]) => {
  expect(errorCode(bodyWith(error))).toBe(code)
})

test.for([
  ['a key', { code: 'sk-proj-4fJq8Zr2' }],
  ['a key of hexadecimal digits', { code: 'a3f9'.repeat(12) }],
  ['a long run of letters', { code: 'k'.repeat(25) }],
  ['a sentence', { code: 'Incorrect API key provided: abc' }],
  ['a number', { code: 429 }],
  ['an empty error', {}],
] as const)('ignores %s in place of a code', ([, error]) => {
  expect(errorCode(bodyWith(error))).toBeUndefined()
})

test.for(['', '[]', '{"error":"no"}', '<html>'])('finds no code in %j', (body) => {
  expect(errorCode(body)).toBeUndefined()
})
