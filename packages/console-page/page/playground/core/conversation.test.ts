import { expect, test } from 'vitest'
import { newAnswer, type Answer, type Entry, messagesOf, admissibleTokens } from './conversation.ts'

const user = (text: string, images: string[] = []): Entry => ({ kind: 'message', id: text, role: 'user', text, images })
const answers = (...columns: Partial<Answer>[]): Entry => ({
  kind: 'answers',
  id: 'answers',
  columns: columns.map((column) => ({ ...newAnswer('m'), ...column })),
})
const png = 'data:image/png;base64,AAAA'

test('each model receives the typed messages and only its own responses', () => {
  const entries = [user('Hello'), answers({ text: 'One' }, { text: 'Two' }), user('And?', [png])]
  const shared = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Hello' },
  ]
  const last = {
    role: 'user',
    content: [
      { type: 'text', text: 'And?' },
      { type: 'image_url', image_url: { url: png } },
    ],
  }
  const of = (column: number) => messagesOf({ system: 'Be short.', entries }, column)
  expect(of(0)).toEqual([...shared, { role: 'assistant', content: 'One' }, last])
  expect(of(1)).toEqual([...shared, { role: 'assistant', content: 'Two' }, last])
})

test('sends tool calls with their results and omits empty responses', () => {
  const call = { id: 'c1', name: 'look', arguments: '{}', result: 'rain' }
  const entries = [user('Forecast?'), answers({ toolCalls: [call] }), answers({ text: '' })]
  expect(messagesOf({ system: ' ', entries }, 0)).toEqual([
    { role: 'user', content: 'Forecast?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'rain' },
  ])
})

const asked = { tokens: 1000, completionPico: 2_000_000n }

test('returns the output tokens the wallet can afford [insufficient_budget]', () => {
  const refusal = { code: 'insufficient_budget', details: { affordableMaxTokens: 40 } }
  expect(admissibleTokens(refusal, asked)).toBe(40)
  expect(admissibleTokens({ ...refusal, details: { affordableMaxTokens: 0 } }, asked)).toBeNull()
})

test('converts the rest of the key limit to output tokens [key_limit]', () => {
  // Needed: 2,010 micro-USD, of which 2,000 for the output and 10 for the prompt.
  const details = { limitMicro: 1000, spentMicro: 100, reservedMicro: 89, neededMicro: 2010 }
  // Left: 811, of which 801 for the output.
  expect(admissibleTokens({ code: 'key_limit', details }, asked)).toBe(400)
  expect(admissibleTokens({ code: 'key_limit', details: { ...details, spentMicro: 1000 } }, asked)).toBeNull()
  expect(admissibleTokens({ code: 'key_limit', details }, { ...asked, completionPico: 0n })).toBeNull()
})

test('returns the output tokens that fit the context window [context_limit]', () => {
  const details = { contextLength: 500, maxOutputTokens: 400, promptTokens: 150, outputCap: 1000 }
  expect(admissibleTokens({ code: 'context_limit', details }, asked)).toBe(350)
  expect(admissibleTokens({ code: 'context_limit', details: { ...details, promptTokens: 500 } }, asked)).toBeNull()
})

test('returns null for errors that fewer tokens do not fix', () => {
  expect(admissibleTokens({ code: 'rate_limited', details: {} }, asked)).toBeNull()
})
