import { expect, test } from 'vitest'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { openChatEvents } from './read-chat.ts'

const event = (delta: object, more: object = {}) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })

const deltaOf = (read: ReturnType<typeof openChatEvents>, data: string) => {
  const chunk = read(data)
  return chunk === null || chunk === 'end' ? chunk : chunk.choices[0]?.delta
}

test('what only names the role is kept back, and the role goes with what is said first', () => {
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
])('%j %j says something', (delta, more) => {
  const read = openChatEvents()
  read(event({ role: 'assistant', content: null }))
  expect(deltaOf(read, event(delta, more))).toEqual({ role: 'assistant', ...delta })
})

test('the end, an error and what is neither', () => {
  const read = openChatEvents()
  expect(read('[DONE]')).toBe('end')
  expect(() => read('{"error":{"code":429}}')).toThrow(ErrorInAnswer)
  expect(() => read('{"choices":[')).toThrow(UnfitAnswer)
})
