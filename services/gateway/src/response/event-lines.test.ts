import { refuse } from '@gateway/api/refusal'
import type { ChunkChoice } from '@gateway/providers/chat-port'
import { describe, expect, test } from 'vitest'
import { eventLines, failureLine } from './response-stream.ts'

const FACTS = { invocation: 'inv_1', model: 'acme/"swift"', created: 1_700_000_000 }
const CHOICES: ChunkChoice[] = [{ index: 0, delta: { content: 'line\nbreak' }, finish_reason: null }]
const USAGE = { promptTokens: 3, completionTokens: 2, estimated: false, details: { prompt: { cached_tokens: 1 } } }
const HEAD = { id: 'inv_1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'acme/"swift"' }

const dataOf = (events: string) =>
  events
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ''))

describe('the events of a stream', () => {
  test('are one line each, no matter what the model says', () => {
    const event = eventLines({ ...FACTS, includeUsage: false }).chunk(CHOICES)
    expect(event).toMatch(/^data: [^\n]+\n\n$/)
    expect(JSON.parse(dataOf(event)[0]!)).toEqual({ ...HEAD, choices: CHOICES })
  })

  test('say nothing of usage unless asked', () => {
    expect(eventLines({ ...FACTS, includeUsage: false }).end(USAGE, 5)).toBe('data: [DONE]\n\n')
  })

  test('say usage once where asked, before [DONE], and null until then', () => {
    const lines = eventLines({ ...FACTS, includeUsage: true })
    expect(JSON.parse(dataOf(lines.chunk(CHOICES))[0]!)).toEqual({ ...HEAD, choices: CHOICES, usage: null })
    const [usage, done] = dataOf(lines.end(USAGE, 5))
    expect(JSON.parse(usage!)).toEqual({
      ...HEAD,
      choices: [],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 1 },
        cost: 0.000005,
        cost_micro: 5,
      },
    })
    expect(done).toBe('[DONE]')
  })

  test('end with the refusal, and nothing after it, where the answer breaks off', () => {
    const refusal = refuse('provider_timeout', {})
    expect(failureLine(refusal)).toBe(`data: ${JSON.stringify({ error: refusal.body })}\n\n`)
  })
})
