import { readChatRequest } from '@gateway/api/chat-request'
import type { LedgerRefusal } from '@gateway/ledger-protocol/ledger-refusal'
import { describe, expect, test } from 'vitest'
import { exactCounter } from './exact-count.ts'
import type { CountQuestion } from './token-counter.ts'

const request = readChatRequest({
  model: 'm',
  messages: [
    { role: 'user', content: 'one two three' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'let me see',
      tool_calls: [{ id: 'call_7', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
    { role: 'tool', tool_call_id: 'call_7', content: [{ type: 'text', text: 'four' }] },
  ],
  tools: [{ type: 'function', function: { name: 'look', description: 'looks' } }],
  tool_choice: { type: 'function', function: { name: 'look' } },
})
const chat = { payer: 'k', request }
const CONTEXT = { outputCap: 10, maxOutputTokens: 20, contextLength: 100 }
const KEY = { limitMicro: 10, spentMicro: 4, reservedMicro: 5 }
const CEILING = { maxMicro: 10, chargedMicro: 4, reservedMicro: 5 }
const WALLET = { availableMicro: 3 }
const COUNTED = { kind: 'counted', tokens: expect.any(Number) }
const STANDS = { kind: 'stands' }

/** Records each question and returns a fixed count. */
function openNoting(tokens: number | null = 7) {
  const asked: CountQuestion[] = []
  return {
    asked,
    countAtMost: async (question: CountQuestion) => {
      asked.push(question)
      return tokens
    },
  }
}

function refused(code: string, facts: object) {
  return { code, facts: { tokenizer: 'o200k_base', project: 'prj_1', ...facts } } as LedgerRefusal
}

describe('exactCounter', () => {
  test('counts every text that a provider may pass to the model, and leaves room between them', async () => {
    const noting = openNoting()
    const count = await exactCounter(noting)(chat, refused('context_limit', CONTEXT))
    const { texts } = noting.asked[0]!
    for (const text of ['one two three', 'let me see', 'look', '{"at":1}', 'four', 'call_7', 'user', 'tool'])
      expect(texts).toContain(text)
    expect(texts.join(' ')).toContain('"description":"looks"')
    expect(texts.filter((text) => text === 'call_7')).toHaveLength(2)
    expect(count).toEqual({ kind: 'counted', tokens: 7 + texts.length })
  })

  test.each([
    ['context_limit', CONTEXT, COUNTED],
    ['context_limit', { ...CONTEXT, outputCap: 21 }, STANDS], // above the model's maximum for any prompt
    ['context_limit', { outputCap: 100, maxOutputTokens: 100, contextLength: 100 }, STANDS],
    ['context_limit', { ...CONTEXT, contextLength: 40 }, STANDS], // more words than fit
    ['key_limit', KEY, COUNTED],
    ['key_limit', { ...KEY, reservedMicro: 6 }, STANDS],
    ['key_limit', { ...KEY, leastMicro: 2 }, STANDS], // the non-text part alone costs more than is left
    ['ceiling_reached', CEILING, COUNTED], // reservations of siblings may still be released
    ['ceiling_reached', { ...CEILING, leastMicro: 6 }, COUNTED],
    ['ceiling_reached', { ...CEILING, leastMicro: 7 }, STANDS],
    ['insufficient_budget', WALLET, COUNTED],
    ['insufficient_budget', { ...WALLET, leastMicro: 3 }, COUNTED],
    ['insufficient_budget', { ...WALLET, leastMicro: 4 }, STANDS],
    ['insufficient_budget', { availableMicro: 0 }, STANDS],
    ['model_not_found', {}, STANDS],
  ])('after %s with %o returns %o', async (code, facts, expected) => {
    const noting = openNoting()
    expect(await exactCounter(noting)(chat, refused(code, facts))).toEqual(expected)
    expect(noting.asked).toHaveLength(expected === COUNTED ? 1 : 0)
  })

  // Of the limit 6 are left once running calls have settled, and of the wallet 8.
  test.each([
    ['key_limit', { ...KEY, leastMicro: 6 }, COUNTED],
    ['key_limit', { ...KEY, leastMicro: 7 }, STANDS],
    ['budget_reached', { ...KEY, leastMicro: 6 }, COUNTED],
    ['budget_reached', { ...KEY, leastMicro: 7 }, STANDS],
    ['ceiling_reached', { ...CEILING, leastMicro: 6 }, COUNTED],
    ['ceiling_reached', { ...CEILING, leastMicro: 7 }, STANDS],
    ['insufficient_budget', { ...WALLET, reservedMicro: 5, leastMicro: 8 }, COUNTED],
    ['insufficient_budget', { ...WALLET, reservedMicro: 5, leastMicro: 9 }, STANDS],
    ['insufficient_budget', { availableMicro: 0, reservedMicro: 0 }, STANDS],
  ])('for a caller that waits for running calls, after %s with %o returns %o', async (code, facts, expected) => {
    const noting = openNoting()
    expect(await exactCounter(noting, { waits: true })(chat, refused(code, facts))).toEqual(expected)
    expect(noting.asked).toHaveLength(expected === COUNTED ? 1 : 0)
  })

  test('uses the tokenizer of the product, and counts nothing without one', async () => {
    const noting = openNoting()
    const count = exactCounter(noting)
    await count(chat, refused('context_limit', { ...CONTEXT, tokenizer: 'cl100k_base' }))
    expect(noting.asked[0]!.family).toBe('cl100k_base')
    expect(await count(chat, refused('context_limit', { ...CONTEXT, tokenizer: null }))).toEqual(STANDS)
    expect(noting.asked).toHaveLength(1)
  })

  test("counts in the project's turn, or in the key's if no project is named", async () => {
    const noting = openNoting()
    const count = exactCounter(noting)
    await count(chat, refused('context_limit', CONTEXT))
    await count(chat, refused('context_limit', { ...CONTEXT, project: undefined }))
    expect(noting.asked.map(({ project }) => project)).toEqual(['prj_1', 'k'])
  })

  test('returns busy instead of an estimate if there is no time to count', async () => {
    expect(await exactCounter(openNoting(null))(chat, refused('context_limit', CONTEXT))).toEqual({ kind: 'busy' })
  })
})
