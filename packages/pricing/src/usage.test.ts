import { expect, test } from 'vitest'
import { MAX_TOKENS, recordedUsage, usage } from './usage.ts'

test('recorded usage keeps only known fields, each capped at its bound', () => {
  const counted = { promptTokens: 7, completionTokens: 2 * MAX_TOKENS, estimated: true, details: { prompt: {} } }
  const recorded = recordedUsage(counted)
  expect(recorded).toEqual({ promptTokens: 7, completionTokens: MAX_TOKENS, estimated: true })
  expect(usage.safeParse(recorded).success).toBe(true)
})
