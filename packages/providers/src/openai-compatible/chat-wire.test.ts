import { expect, test } from 'vitest'
import { readProviders } from '../provider-config.ts'
import { chatWire } from './chat-wire.ts'

const forwarded = JSON.stringify({
  messages: [{ role: 'assistant', content: 'Hi', reasoning_content: 'Hm' }],
})

async function sent(baseUrl: string, settings: object = {}) {
  const config = readProviders(JSON.stringify({ main: { kind: 'openai-compatible', baseUrl, ...settings } }), {})
  const wire = chatWire(config['main'] as Parameters<typeof chatWire>[0])
  const { body } = await wire.request({ model: 'm', forwarded, outputCap: 7, stream: false })
  return JSON.parse(body) as { max_tokens?: number; max_completion_tokens?: number; messages: object[] }
}

test('sends OpenAI the cap as max_completion_tokens, and no reasoning fields', async () => {
  const body = await sent('https://api.openai.com/v1')
  expect(body).toMatchObject({ max_completion_tokens: 7, messages: [{ role: 'assistant', content: 'Hi' }] })
  expect(body).not.toHaveProperty('max_tokens')
  expect(body.messages[0]).not.toHaveProperty('reasoning_content')
})

test('sends other providers the cap as max_tokens, unless configured otherwise', async () => {
  const body = await sent('https://api.groq.com/openai/v1')
  expect(body).toMatchObject({ max_tokens: 7, messages: [{ reasoning_content: 'Hm' }] })
  expect(body).not.toHaveProperty('max_completion_tokens')
  expect(await sent('https://api.groq.com/openai/v1', { capField: 'max_completion_tokens' })).toMatchObject({
    max_completion_tokens: 7,
  })
  expect((await sent('https://api.openai.com/v1', { capField: 'max_tokens' })).max_tokens).toBe(7)
})
