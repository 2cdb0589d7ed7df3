import { readChatRequest } from '@gateway/api/chat-request'
import { Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'
import { promptOfMessages } from './chat-with-sandbox.ts'

const promptOf = (messages: unknown[], more: object = {}) =>
  promptOfMessages(readChatRequest({ model: 'sbx-1', messages, ...more }))

function paramOf(work: () => unknown): string | null {
  try {
    work()
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid_request') return error.body.param
    throw error
  }
  throw new Error('no refusal')
}

const HI = { role: 'user', content: 'Hi' }

describe('the input text of a sandbox product', () => {
  test('is a single message unchanged, regardless of its role', () => {
    for (const role of ['user', 'system', 'developer', 'assistant'])
      expect(promptOf([{ role, content: ' user: \n\n Grüße\t' }])).toBe(' user: \n\n Grüße\t')
  })

  test('has a block per message, separated by blank lines', () => {
    expect(
      promptOf([
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'text', text: ' there' },
          ],
        },
        { role: 'assistant', content: 'Hello.', name: 'bot', reasoning_content: 'hm' },
        { role: 'tool', content: 'sunny', tool_call_id: 'c1' },
        HI,
      ]),
    ).toBe('system: Be brief.\n\nuser: Hi there\n\nassistant: Hello.\n\ntool: sunny\n\nuser: Hi')
  })

  test('rejects images, refusals and tool calls [invalid_request]', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    expect(paramOf(() => promptOf([HI, { role: 'user', content: [{ type: 'text', text: 'x' }, image] }]))).toBe(
      'messages.1.content.1',
    )
    expect(paramOf(() => promptOf([{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }]))).toBe(
      'messages.0.content.0',
    )
    expect(paramOf(() => promptOf([HI, { role: 'assistant', tool_calls: [call] }]))).toBe('messages.1.tool_calls')
  })

  test('rejects tools, a response format and logprobs [invalid_request]', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(paramOf(() => promptOf([HI], { tools }))).toBe('tools')
    expect(paramOf(() => promptOf([HI], { response_format: { type: 'json_object' } }))).toBe('response_format')
    expect(paramOf(() => promptOf([HI], { logprobs: true }))).toBe('logprobs')
  })

  test('ignores sampling parameters', () => {
    const sampling = { temperature: 1, top_p: 0.5, seed: 4, stop: 'x', max_tokens: 5, n: 1, frequency_penalty: 1 }
    expect(promptOf([HI], { ...sampling, presence_penalty: 1, logit_bias: { '5': 1 }, user: 'u' })).toBe('Hi')
  })
})
