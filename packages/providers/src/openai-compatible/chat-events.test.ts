import { expect, test } from 'vitest'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { openChatEvents } from './read-chat.ts'

const event = (delta: object, more: object = {}) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })

const deltaOf = (read: ReturnType<typeof openChatEvents>, data: string) => {
  const chunk = read(data)
  return chunk === null || chunk === 'end' ? chunk : chunk.choices[0]?.delta
}

test('holds back role-only chunks and puts the role on the first chunk with content', () => {
  const read = openChatEvents()
  expect(read(event({ role: 'assistant', content: '' }))).toBeNull()
  expect(read(event({ content: '' }))).toBeNull()
  expect(read(JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 0 } }))).toBeNull()
  expect(deltaOf(read, event({ content: 'Hi' }))).toEqual({ role: 'assistant', content: 'Hi' })
  expect(deltaOf(read, event({ content: '' }))).toEqual({ content: '' })
})

test.each([
  [{ reasoning_content: 'hm' }, {}],
  [{ reasoning: 'hm' }, {}],
  [{ refusal: 'No' }, {}],
  [{ tool_calls: [{ index: 0, id: 'D681PevKs', type: 'function', function: { name: 'f', arguments: '' } }] }, {}],
  [{}, { finish_reason: 'stop' }],
])('treats %j %j as content', (delta, more) => {
  const read = openChatEvents()
  read(event({ role: 'assistant', content: null }))
  expect(deltaOf(read, event(delta, more))).toEqual({ role: 'assistant', ...delta })
})

test('reads [DONE], an error event and invalid JSON', () => {
  const read = openChatEvents()
  expect(read('[DONE]')).toBe('end')
  expect(() => read('{"error":{"code":429}}')).toThrow(ErrorInAnswer)
  expect(() => read('{"choices":[')).toThrow(UnfitAnswer)
})
