import { expect, test } from 'vitest'
import { bodyLimitOf } from './malformed-requests.ts'

test('what a path takes is known before it is routed', () => {
  const limits = ['/v1/assets', '/v1/sandbox/sbx-1/invoke', '/api/v2/x', '/v1/chat/completions', '/'].map((url) =>
    bodyLimitOf({ url }),
  )
  expect(limits).toEqual([25_000_000, 2_097_152, 2_097_152, 22_020_096, 1_048_576])
})
