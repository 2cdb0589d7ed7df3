import { readChatRequest } from '@gateway/contracts/chat-request'
import { expect, test } from 'vitest'
import { forwardedFor } from './forwarded-for.ts'

const request = readChatRequest({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  temperature: 1,
  seed: 4,
  stop: 'END',
})

test('what the model takes goes on as the very text that was measured', () => {
  expect(forwardedFor(request, ['temperature', 'seed'])).toBe(request.forwardedJson)
})

test('temperature, top_p and seed are left out where the model does not take them, and nothing else is', () => {
  expect(JSON.parse(forwardedFor(request, ['temperature']))).toEqual({
    messages: request.forwarded.messages,
    temperature: 1,
    stop: 'END',
  })
})
