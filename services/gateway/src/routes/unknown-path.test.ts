import { expect, test } from 'vitest'
import { nearestPath } from '../app.ts'

test.each([
  ['/chat/completions', '/v1/chat/completions'],
  ['/v1/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/chat/completions/', '/v1/chat/completions'],
  ['/openai/v1/models', '/v1/models'],
  ['/models', '/v1/models'],
  ['/openai/v1/responses', '/v1/responses'],
  ['/responses', '/v1/responses'],
  ['/anthropic/v1/messages', '/v1/messages'],
  ['/v1/completions', '/v1/chat/completions'],
  ['/embeddings', '/v1/embeddings'],
  ['/v1', null],
  ['/.well-known/oauth-protected-resource', null],
])('the path nearest to %s is %s', (asked, meant) => {
  expect(nearestPath(asked)).toBe(meant)
})
