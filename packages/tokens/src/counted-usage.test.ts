import { readChatRequest } from '@gateway/api/chat-request'
import { expect, test } from 'vitest'
import { usageCounter } from './counted-usage.ts'
import { openTokenCounter } from './token-counter.ts'

test('usage is what the provider reports, or our own count if it reports none', async ({ onTestFinished }) => {
  const counter = openTokenCounter({ log: { warn() {} } })
  onTestFinished(() => counter.close())
  const request = readChatRequest({
    model: 'm',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'one two three' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'four five' },
    ],
  })
  const countUsage = usageCounter(counter.count)
  const call = { request, project: 'prj_1' }
  const details = {
    prompt_tokens_details: { cached_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 9 }, // more than the total is capped at the total
  }
  const reported = await countUsage({ promptTokens: 3, completionTokens: 2, details }, call, () => 'unread')
  expect(reported).toEqual({
    promptTokens: 3,
    completionTokens: 2,
    cachedTokens: 1,
    reasoningTokens: 2,
    estimated: false,
    details: { prompt: { cached_tokens: 1 }, completion: { reasoning_tokens: 2 } }, // the values that are charged
  })

  const counted = await countUsage(null, call, () => 'six seven')
  expect(counted).toMatchObject({ completionTokens: 2, estimated: true })
  expect(counted.promptTokens).toBeGreaterThan(5 + 3 * 3)
  expect(counted.promptTokens).toBeLessThan(40)
})
