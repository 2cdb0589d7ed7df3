import { readChatRequest } from '@gateway/contracts/chat-request'
import type { LedgerRefusal } from '@gateway/contracts/ledger-refusal'
import { describe, expect, test } from 'vitest'
import { exactCounter } from './exact-count.ts'

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
const WALLET = { availableMicro: 1 }

/** Counts nothing and remembers what it was to count. */
function openNoting(tokens: number | null = 7) {
  const asked: { texts: string[]; family: string }[] = []
  return {
    asked,
    countAtMost: async (texts: string[], family: string) => {
      asked.push({ texts, family })
      return tokens
    },
  }
}

function refused(code: string, facts: object) {
  return { code, facts: { tokenizer: 'o200k_base', project: 'prj_1', ...facts } } as LedgerRefusal
}

describe('an exact count is made', () => {
  test('of every text that a provider may put before the model, with room between them', async () => {
    const noting = openNoting()
    const tokens = await exactCounter(noting)(chat, refused('context_limit', CONTEXT))
    const { texts } = noting.asked[0]!
    for (const text of ['one two three', 'let me see', 'look', '{"at":1}', 'four', 'call_7', 'user', 'tool'])
      expect(texts).toContain(text)
    expect(texts.join(' ')).toContain('"description":"looks"')
    expect(texts.filter((text) => text === 'call_7')).toHaveLength(2)
    expect(tokens).toBe(7 + texts.length)
  })

  test.each([
    ['context_limit', CONTEXT, true],
    ['context_limit', { ...CONTEXT, outputCap: 21 }, false], // more than the model gives, whatever the prompt
    ['context_limit', { outputCap: 100, maxOutputTokens: 100, contextLength: 100 }, false],
    ['key_limit', KEY, true],
    ['key_limit', { ...KEY, reservedMicro: 6 }, false],
    ['insufficient_budget', WALLET, true],
    ['insufficient_budget', { availableMicro: 0 }, false],
    ['model_not_found', {}, false],
  ])('after %s %o: %s', async (code, facts, counted) => {
    const noting = openNoting()
    expect((await exactCounter(noting)(chat, refused(code, facts))) !== null).toBe(counted)
    expect(noting.asked).toHaveLength(counted ? 1 : 0)
  })

  test('with the tokenizer of the product, and not without one', async () => {
    const noting = openNoting()
    const count = exactCounter(noting)
    await count(chat, refused('context_limit', { ...CONTEXT, tokenizer: 'cl100k_base' }))
    expect(noting.asked[0]!.family).toBe('cl100k_base')
    expect(await count(chat, refused('context_limit', { ...CONTEXT, tokenizer: null }))).toBe(null)
    expect(noting.asked).toHaveLength(1)
  })

  test('not for a project that has had enough counted, and still for another', async () => {
    const noting = openNoting()
    const count = exactCounter({ ...noting, kilobytes: { max: 2, withinSeconds: 60 } }) // the request is one kilobyte
    const turns = async (project: string) =>
      (await count(chat, refused('context_limit', { ...CONTEXT, project }))) !== null
    expect([await turns('prj_1'), await turns('prj_1'), await turns('prj_1')]).toEqual([true, true, false])
    expect(await turns('prj_2')).toBe(true)
  })

  test('and where it fails nothing is estimated', async () => {
    expect(await exactCounter(openNoting(null))(chat, refused('context_limit', CONTEXT))).toBe(null)
  })
})
