import { expect, test } from 'vitest'
import { MAX_TOKENS, recordedUsage, usage } from './usage.ts'

test('what is recorded of a count has its fields alone, each within its bound', () => {
  const counted = { promptTokens: 7, completionTokens: 2 * MAX_TOKENS, estimated: true, details: { prompt: {} } }
  const recorded = recordedUsage(counted)
  expect(recorded).toEqual({ promptTokens: 7, completionTokens: MAX_TOKENS, estimated: true })
  expect(usage.safeParse(recorded).success).toBe(true)
})
