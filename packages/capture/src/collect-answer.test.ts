import { expect, test } from 'vitest'
import { openAnswerCollector } from './collect-answer.ts'

test('a stream and a whole answer give the same message', () => {
  const streamed = openAnswerCollector()
  streamed.append([{ delta: { role: 'assistant', reasoning: 'Hm. ' } }])
  streamed.append([{ delta: { content: 'Hel' } }])
  streamed.append([{ delta: { content: 'lo' } }])
  streamed.append([{ delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'send', arguments: '{"a"' } }] } }])
  streamed.append([{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }])
  const whole = openAnswerCollector()
  const call = { id: 'c1', type: 'function' as const, function: { name: 'send', arguments: '{"a":1}' } }
  const message = { role: 'assistant' as const, content: 'Hello', refusal: null, reasoning: 'Hm. ', tool_calls: [call] }
  whole.append([{ message }])
  expect(JSON.parse(whole.messages()!)).toEqual([
    { role: 'assistant', content: 'Hello', reasoning: 'Hm. ', tool_calls: [call] },
  ])
  expect(streamed.messages()).toEqual(whole.messages())
})

test('no answer is null', () => {
  expect(openAnswerCollector().messages()).toBeNull()
})
