import { describe, expect, test } from 'vitest'
import type { ChunkChoice } from '../../chat-answer.ts'
import { refuse } from '../../refusal.ts'
import { chatAnswer } from './chat-wire.ts'

const FACTS = { id: 'inv_1', model: 'acme/"swift"', created: 1_700_000_000 }
const CHOICES: ChunkChoice[] = [{ index: 0, delta: { content: 'line\nbreak' }, finish_reason: null }]
const USAGE = { promptTokens: 3, completionTokens: 2, estimated: false, details: { prompt: { cached_tokens: 1 } } }
const HEAD = { id: 'inv_1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'acme/"swift"' }

const dataOf = (events: string) =>
  events
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.replace(/^data: /, ''))

describe('stream events', () => {
  test('stay on one line each, even if the text or model ID contains newlines or quotes', () => {
    const event = chatAnswer(FACTS, false).chunk(CHOICES)
    expect(event).toMatch(/^data: [^\n]+\n\n$/)
    expect(JSON.parse(dataOf(event)[0]!)).toEqual({ ...HEAD, choices: CHOICES })
  })

  test('carry usage with the finish reason', () => {
    const ended: ChunkChoice[] = [{ index: 0, delta: {}, finish_reason: 'stop' }]
    const answer = chatAnswer(FACTS, false)
    expect(answer.chunk(ended)).toBe('')
    const [last, done] = dataOf(answer.end({ usage: USAGE, chargedMicro: 5 }))
    expect(JSON.parse(last!)).toMatchObject({ choices: ended, usage: { total_tokens: 5, cost_micro: 5 } })
    expect(done).toBe('[DONE]')
  })

  test('carry usage in an additional chunk, and null until then, if the caller asked for it', () => {
    const lines = chatAnswer(FACTS, true)
    expect(JSON.parse(dataOf(lines.chunk(CHOICES))[0]!)).toEqual({ ...HEAD, choices: CHOICES, usage: null })
    const [usage, done] = dataOf(lines.end({ usage: USAGE, chargedMicro: 5 }))
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

  test('carry all details of the reasoning with the finish reason', () => {
    const answer = chatAnswer(FACTS, false)
    const [first, second] = [1, 2].map((n) => ({ type: 'reasoning.encrypted' as const, data: `sealed ${n}` }))
    const chunk = (delta: ChunkChoice['delta'], finish: ChunkChoice['finish_reason'] = null) =>
      answer.chunk([{ index: 0, delta, finish_reason: finish }])
    expect(chunk({ role: 'assistant', reasoning_details: [first!] })).toContain('"delta":{"role":"assistant"}')
    expect(chunk({ reasoning_details: [second!] })).toBe('')
    expect(chunk({}, 'stop')).toBe('')
    const [last] = dataOf(answer.end({ usage: USAGE, chargedMicro: 5 }))
    expect(JSON.parse(last!)).toMatchObject({ choices: [{ delta: { reasoning_details: [first, second] } }] })
  })

  test('end with the error and no [DONE] if the response is truncated', () => {
    const refusal = refuse('provider_timeout', {})
    expect(chatAnswer(FACTS, false).broken(refusal)).toBe(`data: ${JSON.stringify({ error: refusal.body })}\n\n`)
  })
})
