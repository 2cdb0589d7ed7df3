import { expect, test } from 'vitest'
import {
  newAnswer,
  type Answer,
  type Entry,
  messagesOf,
  admissibleTokens,
  newConversation,
  restored,
  spent,
} from './conversation.ts'

const user = (text: string, images: string[] = []): Entry => ({ kind: 'message', id: text, role: 'user', text, images })
const answers = (...columns: Partial<Answer>[]): Entry => ({
  kind: 'answers',
  id: 'answers',
  columns: columns.map((column) => ({ ...newAnswer(column.invocation ?? 'a', 'm'), ...column })),
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

test('restored entries keep what was charged since, and charges that became known', () => {
  const first = answers({ invocation: 'inv_1', text: 'One', chargedMicro: null })
  const later = answers({ invocation: 'inv_2', text: 'Two', chargedMicro: 5 })
  const earlier = { ...newConversation, entries: [user('Hello'), first, user('And?'), later] }
  const settled = { ...newAnswer('inv_1', 'm'), invocation: 'inv_1', chargedMicro: 3 }
  const present = answers({ invocation: 'inv_3', text: 'Three', chargedMicro: 7 })
  const draft = { role: 'user' as const, text: 'Typed', images: [] }
  const now = { ...earlier, entries: [user('Hello'), present], replaced: [settled], draft }
  const back = restored(earlier, now, { keepsChanges: false })
  expect(back.entries).toMatchObject([user('Hello'), { columns: [{ text: 'One' }] }, user('And?'), later])
  expect(back.draft).toEqual(draft)
  expect(spent(back)).toEqual({ micro: 3 + 5 + 7, open: 0, unknown: 0 })
})

test('restored entries keep the calls whose ID has not arrived, and take over an ID that has', () => {
  const stopped = { id: 'first', state: 'stopped' as const }
  const earlier = { ...newConversation, entries: [user('Hello'), answers({ ...stopped, text: 'One' })] }
  const replaced = [{ ...newAnswer('a', 'm'), ...stopped, invocation: 'inv_1', chargedMicro: 3 }]
  const now = { ...earlier, entries: [user('Hello'), answers({ ...stopped, id: 'second' })], replaced }
  const back = restored(earlier, now, { keepsChanges: false })
  expect(back.entries[1]).toMatchObject({ columns: [{ text: 'One', invocation: 'inv_1', chargedMicro: 3 }] })
  expect(spent(back)).toEqual({ micro: 3, open: 1, unknown: 0 })
})

test('restored messages do not replace what was edited or appended since their removal', () => {
  const [first, second, last] = [user('A'), user('B'), user('C')] as const
  const earlier = { ...newConversation, entries: [first, second] }
  const edited = { ...second, text: 'Edited' } as Entry
  const now = { ...earlier, entries: [edited, last] }
  expect(restored(earlier, now, { keepsChanges: true }).entries).toEqual([first, edited, last])
})

test('restored messages replace what was resent, and keep what was appended after it', () => {
  const [first, second, appended] = [user('A'), user('B'), user('C')] as const
  const earlier = { ...newConversation, entries: [first, answers({ invocation: 'inv_1', text: 'One' }), second] }
  const resent = { ...first, text: 'Edited' } as Entry
  const now = { ...earlier, entries: [resent, { ...answers({ invocation: 'inv_2' }), id: 'other' }, appended] }
  expect(restored(earlier, now, { keepsChanges: false }).entries).toEqual([...earlier.entries, appended])
})

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
