import { readChatRequest } from '@gateway/api/chat-request'
import { expect, test } from 'vitest'
import { forwardedFor } from './exchange.ts'

const request = readChatRequest({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  temperature: 1,
  seed: 4,
  stop: 'END',
})

test('forwards supported fields as the exact text that was measured', () => {
  expect(forwardedFor(request, ['temperature', 'seed'])).toBe(request.forwardedJson)
})

// spec: 2.2/r12
test('omits temperature, top_p and seed if the model does not support them, and no other field', () => {
  expect(JSON.parse(forwardedFor(request, ['temperature']))).toEqual({
    messages: request.forwarded.messages,
    temperature: 1,
    stop: 'END',
  })
})

test('forwards images unchanged and in place, regardless of the surrounding text', () => {
  const part = (url: string, more: object = {}) => ({ type: 'image_url', image_url: { url, ...more } })
  const data = (said: string) => `data:image/png;base64,${Buffer.from(said).toString('base64')}`
  const says = (text: string) => ({ type: 'text', text })
  const messages = (asset: string) => [
    { role: 'system', content: 'image:0' },
    { role: 'user', content: [part(data('one')), says('image:1 and "asset:ast_1"'), part(asset), part(data('two'))] },
    { role: 'assistant', content: 'I see.' },
    { role: 'user', content: [part('https://example.test/a.png', { detail: 'low' }), part(asset), part(data('one'))] },
  ]
  const seeing = readChatRequest({ model: 'm', messages: messages('asset:ast_1'), seed: 4 })
  const urls = new Map([['asset:ast_1', data('stored')]])
  expect(forwardedFor(seeing, ['seed'], urls)).toBe(JSON.stringify({ messages: messages(data('stored')), seed: 4 }))
  expect(JSON.parse(forwardedFor(seeing, [], urls))).toEqual({ messages: messages(data('stored')) })
})
