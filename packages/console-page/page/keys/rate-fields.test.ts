import { rateLimits } from '@gateway/api/rates'
import { expect, test } from 'vitest'
import { draftOfRates, emptyRates, ratesOfDraft, ratesText } from './rate-fields.tsx'

test('rate limits survive the form, where an empty field sets none', () => {
  const limits = { requestsPerMinute: 600, tokensPerMinute: null, concurrentCalls: 5 }
  expect(draftOfRates(limits)).toEqual({ requestsPerMinute: '600', tokensPerMinute: '', concurrentCalls: '5' })
  expect(ratesOfDraft(draftOfRates(limits))).toEqual(limits)
  expect(ratesOfDraft(emptyRates)).toEqual(rateLimits.parse({}))
})

test('ratesText lists the limits that are set', () => {
  expect(ratesText({ requestsPerMinute: 1_200, tokensPerMinute: null, concurrentCalls: 5 })).toBe(
    '1,200 requests per minute, 5 concurrent calls',
  )
  expect(ratesText(rateLimits.parse({}))).toBe(null)
})
