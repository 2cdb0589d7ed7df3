import { expect, test } from 'vitest'
import { inFormWords } from './failed.ts'

test.for([
  ['micro', 'micro is 0, and must be at least 1.', 'Amount (USD) is $0.00, and must be at least $0.000001.'],
  ['limit.micro', 'limit.micro must be at most 5000000.', 'Spending limit (USD) must be at most $5.00.'],
  [
    'belowMicro.1',
    'belowMicro.1 is -250000, and must be at least 1.',
    'Balance below (USD) is −$0.25, and must be at least $0.000001.',
  ],
  ['rates.requestsPerMinute', 'rates.requestsPerMinute must be at least 1.', 'Requests per minute must be at least 1.'],
  ['micro', 'Correct micro and send it again.', 'Correct Amount (USD) and send it again.'],
] as const)('an error about %s names the field as its form does, with amounts in dollars', ([param, sent, shown]) => {
  expect(inFormWords(sent, param)).toBe(shown)
})

test.for([
  ['cursor', 'cursor was not returned by this list.'],
  ['micro', 'The wallet has less than that.'],
] as const)('an error about %s that names no field of a form is shown unchanged', ([param, sent]) => {
  expect(inFormWords(sent, param)).toBe(sent)
})
