import { expect, test } from 'vitest'
import { newAnswer, newConversation, spent } from '../core/conversation.ts'
import { openEventData, applyChunk, type Chunk } from './use-conversation.ts'

const chunk = (delta: object, usage?: object) =>
  ({ id: 'inv_1', choices: [{ index: 0, delta, finish_reason: null }], usage }) as unknown as Chunk

test('applyChunk appends text, records the time of the first token, and reads the charge from the last chunk', () => {
  const role = applyChunk(newAnswer('m'), chunk({ role: 'assistant' }), 5)
  const first = applyChunk(role, chunk({ content: 'Ra' }), 20)
  const second = applyChunk(first, chunk({ content: 'in' }), 40)
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 0.000005, cost_micro: 5 }
  const last = applyChunk(second, { ...chunk({}, usage), choices: [] }, 50)
  expect(last).toMatchObject({ invocation: 'inv_1', text: 'Rain', firstMs: 20, chargedMicro: 5 })
  expect(last.usage).toEqual({ prompt: 3, completion: 2 })
})

test('applyChunk assembles tool calls from several chunks', () => {
  const begun = chunk({
    tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }],
  })
  const more = chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] })
  const answer = applyChunk(applyChunk(newAnswer('m'), begun, 1), more, 2)
  expect(answer.toolCalls).toEqual([{ id: 'c1', name: 'look', arguments: '{"a":1}', result: '' }])
})

test('openEventData handles events split at any point and ignores comments', () => {
  const taken: string[] = []
  const read = openEventData((data) => taken.push(data))
  for (const piece of ['data: {"a"', ':1}\n', '\n: keep-alive\n\ndata: [DO', 'NE]\n\n']) read(piece)
  expect(taken).toEqual(['{"a":1}', '[DONE]'])
})

test('spent includes replaced responses and counts pending charges', () => {
  const paid = { ...newAnswer('m'), chargedMicro: 7 }
  const entries = [{ kind: 'answers' as const, id: 'a', columns: [paid, newAnswer('n')] }]
  expect(spent({ ...newConversation, entries, replaced: [paid] })).toEqual({ micro: 14, open: 1 })
})
