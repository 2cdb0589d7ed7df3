import type { RefusalCode } from '@gateway/contracts/refusal'
import { describe, expect, test } from 'vitest'
import { refusalOfOutcome } from './refusal-of-outcome.ts'

const said = (code: string, facts: Record<string, unknown> = {}) =>
  refusalOfOutcome({ code: code as RefusalCode, facts })

describe('what the ledger decided is said', () => {
  test('with the moment at which the window of a key ends [key_limit]', () => {
    const facts = { limitMicro: 5_000_000, spentMicro: 4_999_120, reservedMicro: 900, neededMicro: 400 }
    const { body } = said('key_limit', {
      ...facts,
      reset: 'daily',
      windowStart: '2026-11-20T00:00:00+00:00',
      tokenizer: 'o200k_base',
    })
    expect(body.details).toEqual({ ...facts, resetsAt: '2026-11-21T00:00:00Z' })
    expect(body.resolution).toContain('2026-11-21T00:00:00Z')
  })

  test('with no such moment for a lifetime [key_limit]', () => {
    const { body } = said('key_limit', { reset: 'lifetime', windowStart: '1970-01-01T00:00:00+00:00', limitMicro: 5 })
    expect(body.details).toMatchObject({ resetsAt: null })
    expect(body.resolution).toContain('higher limit')
  })

  test('with what could be afforded [insufficient_budget]', () => {
    const facts = { availableMicro: 100, reservedMicro: 50, neededMicro: 400, affordableMaxTokens: 20 }
    const { status, body } = said('insufficient_budget', { ...facts, tokenizer: 'o200k_base' })
    expect(status).toBe(402)
    expect(body.details).toEqual(facts)
    expect(body.resolution).toContain('20 max_tokens')
  })

  test('with the limits of the model, and which field breaks them [context_limit]', () => {
    const limits = { contextLength: 8_000, maxOutputTokens: 4_000 }
    const long = said('context_limit', { ...limits, promptTokens: 7_000, outputCap: 4_000 })
    expect(long.body).toMatchObject({ param: 'messages', message: expect.stringContaining('maximum context length') })
    expect(said('context_limit', { ...limits, promptTokens: 10, outputCap: 5_000 }).body.param).toBe('max_tokens')
  })

  test('with the replacement of a rotated key [key_revoked]', () => {
    expect(said('key_revoked', { rotatedTo: 'key_2' }).body).toMatchObject({ details: { rotatedTo: 'key_2' } })
    expect(said('key_revoked', { rotatedTo: null }).body).not.toHaveProperty('details')
  })

  test('as an invalid request where only ledger and gateway know the code [invalid_request]', () => {
    expect(said('unsupported_parameter', { param: 'logprobs' }).body).toMatchObject({
      code: 'invalid_request',
      param: 'logprobs',
    })
    expect(said('images_unsupported').body).toMatchObject({ code: 'invalid_request', param: 'messages' })
  })

  test.each([
    ['key_invalid', {}, 401],
    ['key_expired', { expiredAt: '2026-11-20T10:00:00.123+00:00' }, 401],
    ['key_unbound', {}, 403],
    ['key_issuer_denied', {}, 403],
    ['project_mismatch', { project: 'prj_1' }, 403],
    ['key_scope', { resource: 'acme/swift' }, 403],
    ['model_not_found', { model: 'acme/none' }, 404],
    ['idempotency_mismatch', {}, 422],
    ['answer_not_kept', {}, 422],
    ['overloaded', {}, 503],
    ['unavailable', {}, 503],
  ])('%s: with a way out', (code, facts, status) => {
    const refusal = said(code, facts)
    expect(refusal).toMatchObject({ code, status, body: { resolution: expect.stringMatching(/\w/) } })
    expect(refusal.headers['Retry-After'] === undefined).toBe(status !== 503)
  })

  test('never for a code that no call can be refused with', () => {
    expect(() => said('instance_gone')).toThrow('instance_gone')
  })
})
