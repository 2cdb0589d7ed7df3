import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wireUsage } from './chat-answer.ts'

test('wireUsage adds up the tokens, and includes details if there are any', () => {
  expect(wireUsage({ promptTokens: 7, completionTokens: 5 }, null)).toEqual({
    prompt_tokens: 7,
    completion_tokens: 5,
    total_tokens: 12,
  })
  const details = { prompt: { cached_tokens: 3 }, completion: { reasoning_tokens: 2 } }
  expect(wireUsage({ promptTokens: 7, completionTokens: 5, details }, null)).toEqual({
    prompt_tokens: 7,
    completion_tokens: 5,
    total_tokens: 12,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  })
})

test('wireUsage writes the cost as a plain decimal number of USD, exact to the micro-USD', () => {
  const written = (micro: number) => JSON.stringify(wireUsage({ promptTokens: 0, completionTokens: 0 }, micro))
  expect(written(42)).toContain('"cost":0.000042,"cost_micro":42}')
  expect(written(0)).toContain('"cost":0,"cost_micro":0}')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (micro) => {
      const digits = String(micro).padStart(7, '0')
      const plain = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
      expect(written(micro)).toContain(`"cost":${plain},"cost_micro":${micro}}`)
    }),
  )
})
