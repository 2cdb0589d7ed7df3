import { expect, test } from 'vitest'
import { withoutCacheControl } from './cache-control.ts'
import { wiresOf } from './open-providers.ts'
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

test.for(['anthropic', 'openai-compatible'])(
  'sends cache marks to a provider of the kind %s only if it is configured for them',
  async (kind) => {
    const forwarded = '{"messages":[{"role":"user","content":"Hi","cache_control":{"type":"ephemeral"}}]}'
    const sent = async (settings: object) => {
      const { main } = readProviders(
        JSON.stringify({ main: { kind, baseUrl: 'https://a.example/v1', ...settings } }),
        {},
      )
      return (await wiresOf(main!).chat.request({ model: 'm', forwarded, outputCap: 7, stream: false })).body
    }
    expect(await sent({})).not.toContain('cache_control')
    expect(await sent({ cacheControl: true })).toContain('"cache_control":{"type":"ephemeral"}')
  },
)
