import { expect, test } from 'vitest'
import { ApiRefusal } from '@gateway/api-client/failures'
import { failedBy, inFormWords } from './failed.ts'

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

test.for([
  ['1', 'Retry after Retry-After seconds.', 'Retry after 1 second.'],
  ['119', 'Wait at least Retry-After seconds, and retry.', 'Wait at least 119 seconds, and retry.'],
  ['30', 'Retry in 3541 seconds, or use a recovery code.', 'Retry in 60 minutes, or use a recovery code.'],
  ['30', 'Retry in 30 seconds.', 'Retry in 30 seconds.'],
  ['120', 'Retry after Retry-After seconds.', 'Retry after 2 minutes.'],
  ['781', 'Use another device.', 'Use another device. Try again in 14 minutes.'],
  ['0', 'Retry the request.', 'Retry the request.'],
  ['', 'Retry after Retry-After seconds.', 'Retry after Retry-After seconds.'],
] as const)('an error with Retry-After: %s says the wait in words', ([after, resolution, shown]) => {
  const headers = new Headers(after === '' ? {} : { 'Retry-After': after })
  const body = { code: 'rate_limited', type: 'rate_limit_error', param: null, message: 'No.', resolution } as const
  expect(failedBy(new ApiRefusal({ status: 429, headers }, body)).resolution).toBe(shown)
})
