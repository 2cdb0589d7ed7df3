import { readChatRequest } from '@gateway/api/chat-request'
import { describe, expect, test as base } from 'vitest'
import { usageCounter } from './counted-usage.ts'
import { openTokenCounter } from './token-counter.ts'

const replaced: object[] = []
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('countUsage', ({}, { onCleanup }) => {
  const counter = openTokenCounter({ log: { warn() {} } })
  onCleanup(() => counter.close())
  replaced.length = 0
  return usageCounter(counter.count, (facts) => replaced.push(facts))
})

test('usage is what the provider reports, or our own count if it reports none', async ({ countUsage }) => {
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
  const call = { request, project: 'prj_1', provider: 'main' }
  const details = {
    prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 9 }, // more than the rest is capped at the rest
    completion_tokens_details: { reasoning_tokens: 9 }, // more than the total is capped at the total
  }
  const reported = await countUsage({ promptTokens: 3, completionTokens: 2, details }, call, () => 'unread')
  expect(reported).toEqual({
    promptTokens: 3,
    completionTokens: 2,
    cachedTokens: 1,
    cacheWriteTokens: 2,
    reasoningTokens: 2,
    estimated: false,
    // The values that are charged.
    details: { prompt: { cached_tokens: 1, cache_write_tokens: 2 }, completion: { reasoning_tokens: 2 } },
  })

  const counted = await countUsage(null, call, () => 'six seven')
  expect(counted).toMatchObject({ completionTokens: 2, estimated: true })
  expect(counted.promptTokens).toBeGreaterThan(5 + 3 * 3)
  expect(counted.promptTokens).toBeLessThan(40)
})

describe('reported usage', () => {
  const request = readChatRequest({ model: 'm', messages: [{ role: 'user', content: 'one two three' }] })
  const call = { request, project: 'prj_1', provider: 'main' }
  const ours = { promptTokens: 11, completionTokens: 2, estimated: true }

  test.for([
    [null, 'six seven', 'missing'],
    [{ promptTokens: 0, completionTokens: 2 }, 'six seven', 'no_prompt'],
    [{ promptTokens: 9, completionTokens: 0 }, 'six seven', 'no_completion'],
    [{ promptTokens: 0, completionTokens: 0 }, 'six seven', 'no_prompt'],
  ] as const)('%j is replaced by our own count for "%s": %s', async ([reported, answer, reason], { countUsage }) => {
    const usage = await countUsage(reported && { ...reported, details: {} }, call, () => answer)
    expect(usage).toEqual(ours)
    expect(replaced).toEqual([{ provider: 'main', reason }])
  })

  test.for([
    [{ cached_tokens: 6 }, {}, ['part_too_high']],
    [{ cached_tokens: 3, cache_write_tokens: 3 }, {}, ['part_too_high']],
    [{ cached_tokens: 6 }, { reasoning_tokens: 3 }, ['part_too_high']],
    [{ cached_tokens: 3, cache_write_tokens: 2 }, { reasoning_tokens: 2 }, []],
  ] as const)('with the parts %j and %j is counted as %j', async ([prompt, completion, reasons], { countUsage }) => {
    const details = { prompt_tokens_details: prompt, completion_tokens_details: completion }
    const usage = await countUsage({ promptTokens: 5, completionTokens: 2, details }, call, () => 'unread')
    expect(usage).toMatchObject({ promptTokens: 5, completionTokens: 2, estimated: false })
    expect(replaced).toEqual(reasons.map((reason) => ({ provider: 'main', reason })))
  })

  test('without completion tokens is used for an empty response', async ({ countUsage }) => {
    const usage = await countUsage({ promptTokens: 5, completionTokens: 0, details: {} }, call, () => '')
    expect(usage).toMatchObject({ promptTokens: 5, completionTokens: 0, estimated: false })
    expect(replaced).toEqual([])
  })

  test('is not expected of a response that broke off', async ({ countUsage }) => {
    expect(await countUsage('cut', call, () => 'six seven')).toEqual(ours)
    expect(replaced).toEqual([])
  })
})
