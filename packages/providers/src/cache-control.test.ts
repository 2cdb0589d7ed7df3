import { expect, test } from 'vitest'
import { withoutCacheControl, wiresOf } from './open-providers.ts'
import { readProviders } from './provider-config.ts'

test('removes cache marks of messages, parts and tools, and nothing else', () => {
  const cache_control = { type: 'ephemeral' }
  const part = { type: 'text', text: 'Say "cache_control".' }
  const tool = { type: 'function', function: { name: 'f' } }
  const forwarded = (marks: object) =>
    JSON.stringify({
      messages: [{ role: 'user', content: [{ ...part, ...marks }], ...marks }],
      temperature: 1,
      tools: [{ ...tool, ...marks }],
    })
  expect(withoutCacheControl(forwarded({ cache_control }))).toBe(forwarded({}))
  const plain = '{"messages":[{"role":"user","content":"\\u00e4"}]}'
  expect(withoutCacheControl(plain)).toBe(plain)
})

test.for([
  ['anthropic', {}, '"cache_control":{"type":"ephemeral"}'],
  ['bedrock', { region: 'us-east-1', apiKey: 'sk-1' }, '"cachePoint":{"type":"default"}'],
  ['openai-compatible', { cacheControl: true }, '"cache_control":{"type":"ephemeral"}'],
  ['openai-compatible', {}, null],
  ['openai-responses', {}, null],
  ['azure-openai', {}, null],
  ['gemini', {}, null],
] as const)('sends to a provider of the kind %s with settings %j the cache mark %j', async ([kind, settings, mark]) => {
  const forwarded = '{"messages":[{"role":"user","content":"Hi","cache_control":{"type":"ephemeral"}}]}'
  const { main } = readProviders(JSON.stringify({ main: { kind, baseUrl: 'https://a.example/v1', ...settings } }), {})
  const { body } = await wiresOf(main!).chat.request({ model: 'm', forwarded, outputCap: 7, stream: false })
  if (mark === null) expect(body).not.toMatch(/cache_control|cachePoint/)
  else expect(body).toContain(mark)
})
