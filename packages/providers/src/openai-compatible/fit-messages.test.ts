import { expect, test } from 'vitest'
import { fitMessages, type MessageRules } from './chat-wire.ts'

const asTheyAre: MessageRules = { toolCallIds: 'any', reasoningHistory: true }
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const fitted = (messages: object[], rules: Partial<MessageRules>) =>
  JSON.parse(fitMessages(JSON.stringify({ messages, temperature: 1 }), { ...asTheyAre, ...rules }))

test('leaves the text unchanged if nothing must be removed', () => {
  const forwarded = '{"messages":[{"role":"user","content":"\\u00e4 1.0"}],"temperature":1.0}'
  expect(fitMessages(forwarded, asTheyAre)).toBe(forwarded)
  expect(fitMessages(forwarded, { toolCallIds: 'nine-characters', reasoningHistory: false })).toBe(forwarded)
})

test('never sends the sealed reasoning of other wire formats', () => {
  const sealed = { type: 'reasoning.encrypted', data: 'x' }
  const answer = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' }
  expect(fitted([{ ...answer, reasoning_details: [sealed] }], {})).toEqual({ messages: [answer], temperature: 1 })
})

test('omits reasoning if reasoningHistory is false', () => {
  const answer = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm', reasoning: 'Hm' }
  expect(fitted([answer], { reasoningHistory: false }).messages).toEqual([{ role: 'assistant', content: 'Hi' }])
})

test('shortens IDs to nine characters, identically for a call and its result', () => {
  const { messages } = fitted(
    [
      { role: 'assistant', content: null, tool_calls: [call('call_0123456789'), call('abcDEF123')] },
      { role: 'tool', tool_call_id: 'call_0123456789', content: 'x' },
      { role: 'tool', tool_call_id: 'abcDEF123', content: 'y' },
    ],
    { toolCallIds: 'nine-characters' },
  )
  const [first, second] = messages[0].tool_calls.map(({ id }: { id: string }) => id)
  expect(first).toMatch(/^[a-z0-9]{9}$/)
  expect(second).toBe('abcDEF123')
  expect([messages[1].tool_call_id, messages[2].tool_call_id]).toEqual([first, second])
})

const thought = { reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 'x' }] }
test.for<[string, object, object]>([
  ['alone', { content: null }, { content: '' }],
  ['that is absent', {}, { content: '' }],
  ['with reasoning', { content: null, reasoning_content: 'Hm' }, { content: '', reasoning_content: 'Hm' }],
  ['that is absent, with reasoning', { reasoning_content: 'Hm' }, { content: '', reasoning_content: 'Hm' }],
  ['with sealed reasoning', { content: null, ...thought }, { content: '' }],
])('writes the null content of an answer that says nothing as an empty text: %s', ([, said, becomes]) => {
  const { messages } = fitted(
    [
      { role: 'user', content: 'hi' },
      { role: 'assistant', ...said },
    ],
    {},
  )
  expect(messages).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', ...becomes },
  ])
})

test('keeps the null content of tool calls and refusals, and parses no conversation because of tool calls', () => {
  const calls = { role: 'assistant', content: null, tool_calls: [call('a')] }
  const refused = { role: 'assistant', content: null, refusal: 'No.' }
  expect(fitted([calls, refused], {}).messages).toEqual([calls, refused])
  for (const content of ['"content":null,', '']) {
    const forwarded = `{"messages":[{"role":"assistant",${content}"tool_calls":[${JSON.stringify(call('a'))}]}],"top_p":1.0}`
    expect(fitMessages(forwarded, asTheyAre)).toBe(forwarded)
  }
})
