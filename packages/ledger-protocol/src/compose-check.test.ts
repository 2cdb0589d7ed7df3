import { describe, expect, test } from 'vitest'
import { admissionCheck, readCheck } from '@gateway/api/admission-check'
import { composeCheck } from './compose-check.ts'
import type { LedgerRefusal } from './ledger-refusal.ts'

const call = readCheck({ model: 'acme/swift', promptBytes: 100 })
const composed = (code: string, facts: object = {}) =>
  admissionCheck.parse(composeCheck(call, { refusal: { code, facts } as LedgerRefusal, boundMicro: 42, outputCap: 10 }))
const outcomes = (code: string) => composed(code).rules.map(({ outcome }) => outcome)

describe('an admission check', () => {
  test('that is admitted passes every rule and returns the amount it would reserve', () => {
    const check = composeCheck(call, { refusal: null, boundMicro: 42, outputCap: 10 })
    expect(admissionCheck.parse(check)).toMatchObject({ admitted: true, boundMicro: 42, outputCap: 10, refusal: null })
    expect(new Set(check.rules.map(({ outcome }) => outcome))).toEqual(new Set(['pass']))
  })

  test.for([
    ['key_revoked', 0],
    ['key_paused', 0],
    ['key_unbound', 1],
    ['key_issuer_denied', 2],
    ['project_mismatch', 3],
    ['model_not_found', 4],
    ['key_scope', 5],
    ['images_unsupported', 6],
    ['context_limit', 7],
    ['key_limit', 8],
    ['budget_reached', 9],
    ['insufficient_budget', 10],
  ] as const)('that is refused fails one rule and reaches none after it [%s]', ([code, place]) => {
    const expected = Array.from({ length: 11 }, (_, n) => (n < place ? 'pass' : n === place ? 'fail' : 'not_reached'))
    expect(outcomes(code)).toEqual(expected)
  })

  test('returns the bound if it is refused for money, but not if an earlier rule refuses it [key_limit] [context_limit]', () => {
    expect(composed('key_limit')).toMatchObject({ admitted: false, boundMicro: 42, refusal: { code: 'key_limit' } })
    expect(composed('context_limit')).toMatchObject({ boundMicro: null, outputCap: null })
  })

  test('is itself refused if no call could be made now [unavailable]', () => {
    expect(() => composed('unavailable')).toThrow(expect.objectContaining({ code: 'unavailable' }))
  })
})
