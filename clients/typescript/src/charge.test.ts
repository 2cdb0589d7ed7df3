import { expect, test } from 'vitest'
import { chargeOf, chargeOfUsage } from './charge.ts'

test.for([
  [0, '0'],
  [1, '0.000001'],
  [930, '0.00093'],
  [1_000_000, '1'],
  [12_345_678, '12.345678'],
  [9_007_199_254_740_991, '9007199254.740991'],
] as const)('chargeOf converts %d micro-USD to exactly %s US dollars', ([micro, usd]) => {
  expect(chargeOf(micro)).toEqual({ micro, usd })
})

test('chargeOfUsage reads the charge of a chat call from its usage, or null if it is not on record', () => {
  expect(chargeOfUsage({ prompt_tokens: 3, cost: 0.000_005, cost_micro: 5 })).toEqual({ micro: 5, usd: '0.000005' })
  for (const usage of [{ prompt_tokens: 3 }, null, undefined]) expect(chargeOfUsage(usage)).toBeNull()
})
