import { flowLimits } from '@gateway/api/limits'
import { expect, test } from 'vitest'
import { usualReceiveMs } from '@gateway/service-kit/http/connections'
import { bodyLimitOf } from '../start.ts'

test('returns the body limit of a path before routing', () => {
  const limits = [
    '/v1/assets',
    '/api/v2/tenants/t/projects/p/assets',
    '/v1/sandbox/sbx-1/invoke',
    '/api/v2/x',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages/count_tokens',
    '/',
  ].map((url) => bodyLimitOf({ url }))
  expect(limits).toEqual([25_000_000, 25_000_000, 2_097_152, 2_097_152, 21_495_808, 21_495_808, 21_495_808, 524_288])
})

test('allows enough time to receive the largest asset at 0.5 Mbit/s', () => {
  const bitsPerMs = 500
  expect(usualReceiveMs({ url: '/v1/assets' })).toBeGreaterThan((flowLimits.assetBytes * 8) / bitsPerMs)
  expect(usualReceiveMs({ url: '/v1/chat/completions' })).toBe(60_000)
})
