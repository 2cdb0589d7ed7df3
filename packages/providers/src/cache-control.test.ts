import { expect, test } from 'vitest'
import { withoutCacheControl } from './cache-control.ts'

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
