import { expect, test } from 'vitest'
import type { ChatBody } from '../core/conversation.ts'
import { chatCode } from './chat-code.ts'

const body: ChatBody = {
  model: 'acme/small',
  messages: [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'What\'s "rain"?\nSay it.' },
  ],
  max_tokens: 50,
  logprobs: true,
  stream: true,
  stream_options: { include_usage: true },
}
const texts = Object.fromEntries(chatCode('https://gateway.example/', body).map(({ title, text }) => [title, text]))

test('the curl command sends the exact request from an unescaped here-document', () => {
  const text = texts['curl']!
  expect(text.split('\n').slice(0, 4)).toEqual([
    String.raw`curl -N https://gateway.example/v1/chat/completions \ `.trim(),
    String.raw`  -H "Authorization: Bearer $GATEWAY_KEY" \ `.trimEnd(),
    String.raw`  -H "Content-Type: application/json" \ `.trimEnd(),
    "  --data-binary @- <<'JSON'",
  ])
  expect(JSON.parse(text.split('\n').slice(4, -2).join('\n'))).toEqual(body)
})

test('the Python code uses Python constants and JSON string escapes', () => {
  expect(texts['openai for Python']).toContain(`stream = client.chat.completions.create(
    model="acme/small",
    messages=[
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "What's \\"rain\\"?\\nSay it."},
    ],
    max_tokens=50,
    logprobs=True,
    stream=True,
    stream_options={"include_usage": True},
)
`)
})

test('the JavaScript code uses idiomatic quotes and unquoted keys', () => {
  expect(texts['openai for JavaScript']).toContain(`create({
  model: 'acme/small',
  messages: [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: "What's \\"rain\\"?\\nSay it." },
  ],
  max_tokens: 50,
`)
  expect(texts['Vercel AI SDK']).toContain(`streamText({
  model: gateway.chatModel('acme/small'),
  system: 'Be short.',
  messages: [{ role: 'user', content: "What's \\"rain\\"?\\nSay it." }],
  maxOutputTokens: 50,
})`)
  expect(texts['LangChain']).toContain(`  maxTokens: 50,
  modelKwargs: { logprobs: true },
`)
})

test('every sample reads the key from an environment variable', () => {
  for (const text of Object.values(texts))
    expect(text).toMatch(/\$GATEWAY_KEY|env\.GATEWAY_KEY|environ\["GATEWAY_KEY"\]/)
})
