import { expect, test } from 'vitest'
import { count, microOf, several, usd } from './usd.ts'

test.for([
  [0, '$0.00'],
  [1, '$0.000001'],
  [10_000, '$0.01'],
  [4_999_120, '$4.99912'],
  [1_234_567_890_123, '$1,234,567.890123'],
  [Number.MAX_SAFE_INTEGER, '$9,007,199,254.740991'],
  [-2_500_000, '−$2.50'],
] as const)('formats %d micro-USD as %s', ([micro, text]) => {
  expect(usd(micro)).toBe(text)
})

test.for([
  ['5', 5_000_000],
  [' 0.25 ', 250_000],
  ['$1,5', 1_500_000],
  ['0,125', 125_000],
  ['1,5000', 1_500_000],
  ['1,500', null], // 1500 to one reader, and 1.5 to another
  ['0.000001', 1],
  ['0.0000001', null],
  ['', null],
  ['-1', null],
  ['1e3', null],
] as const)('parses %j as %s micro-USD', ([text, micro]) => {
  expect(microOf(text)).toBe(micro)
})

test('formats counts with thousands separators and plurals', () => {
  expect([count(1_234_567), several(1, 'key'), several(0, 'key')]).toEqual(['1,234,567', '1 key', '0 keys'])
})
