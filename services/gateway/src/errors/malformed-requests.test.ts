import { createServer } from 'node:http'
import { flowLimits } from '@gateway/api/limits'
import { expect, test } from 'vitest'
import { bodyLimitOf, refuseMalformed } from './malformed-requests.ts'

test('what a path takes is known before it is routed', () => {
  const limits = ['/v1/assets', '/v1/sandbox/sbx-1/invoke', '/api/v2/x', '/v1/chat/completions', '/'].map((url) =>
    bodyLimitOf({ url }),
  )
  expect(limits).toEqual([25_000_000, 2_097_152, 2_097_152, 22_020_096, 1_048_576])
})

test('the largest file has time to come by a line of half a megabit a second', () => {
  const server = createServer()
  refuseMalformed({ newId: () => 'req_1' }, server)
  const bitsPerMs = 500
  expect(server.requestTimeout).toBeGreaterThan((flowLimits.assetBytes * 8) / bitsPerMs)
})
