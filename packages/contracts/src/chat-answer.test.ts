import { expect, test } from 'vitest'
import { wireUsage } from './chat-answer.ts'

test('the usage of the wire has the sum, and details where there are any', () => {
  expect(wireUsage({ promptTokens: 7, completionTokens: 5 })).toEqual({
    prompt_tokens: 7,
    completion_tokens: 5,
    total_tokens: 12,
  })
  const details = { prompt: { cached_tokens: 3 }, completion: { reasoning_tokens: 2 } }
  expect(wireUsage({ promptTokens: 7, completionTokens: 5, details })).toEqual({
    prompt_tokens: 7,
    completion_tokens: 5,
    total_tokens: 12,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  })
})
