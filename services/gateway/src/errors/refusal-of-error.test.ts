import { refuse } from '@gateway/api/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { ProcessStopping } from '../admission/limits.ts'
import { refusalOfBreak, refusalOfEmbedding, refusalOfError } from './refusal-of-error.ts'
import { ProviderFailure, type FailureFacts } from '@gateway/providers/provider-failure'
import { describe, expect, test } from 'vitest'

const failed = (facts: Partial<FailureFacts>) =>
  new ProviderFailure({ kind: 'refused', provider: 'acme-cloud', detail: 'secret detail', ...facts })

test('refusalOfEmbedding names cures of an embedding call, and keeps the rest of the refusal', () => {
  const size = { contextLength: 1, maxOutputTokens: 1, promptTokens: 2, outputCap: 0 }
  const unsayable = { field: 'dimensions', problem: 'is not taken', instead: 'leave it out' }
  for (const error of [
    failed({ kind: 'timeout' }),
    failed({ kind: 'garbage' }),
    failed({ kind: 'too_large', limitBytes: 9 }),
    failed({ providerStatus: 400 }),
    failed({ providerStatus: 400, asked: false, unsayable }),
    refuse('context_limit', size, { details: size }),
  ]) {
    const { resolution, ...rest } = refusalOfEmbedding(error).body
    const { resolution: ofChat, ...same } = refusalOfError(error).body
    expect(rest).toEqual(same)
    expect([ofChat, resolution]).toEqual([expect.any(String), expect.stringContaining('GET /v1/embeddings/models')])
    expect(resolution).not.toMatch(/messages|max_tokens|GET \/v1\/models/)
  }
  const other = refuse('insufficient_budget', {
    neededMicro: 2,
    availableMicro: 1,
    reservedMicro: 0,
    affordableMaxTokens: 0,
  })
  expect(refusalOfEmbedding(other)).toEqual(other)
})

describe('refusalOfError and refusalOfBreak', () => {
  test.each([
    [refuse('not_found', {}), 404, 'not_found'],
    [new LedgerUnavailable({ why: 'unavailable' }), 503, 'unavailable'],
    [new LedgerUnavailable({ why: 'overloaded' }), 503, 'overloaded'],
    [new ProcessStopping(), 503, 'unavailable'],
    [failed({ kind: 'busy', asked: false }), 503, 'overloaded'],
    [failed({ kind: 'timeout' }), 504, 'provider_timeout'],
    [failed({ kind: 'unreachable' }), 502, 'provider_failed'],
    [failed({ kind: 'garbage' }), 502, 'provider_failed'],
    [failed({ providerStatus: 401 }), 502, 'provider_failed'],
    [failed({ providerStatus: 429, retryAfterMs: 5_000 }), 502, 'provider_failed'],
    [failed({ providerStatus: 503 }), 502, 'provider_failed'],
    [failed({ providerStatus: 400 }), 400, 'invalid_request'],
    [failed({ providerStatus: 422 }), 400, 'invalid_request'],
    [new TypeError('x is not a function'), 500, 'internal_error'],
    ['a string', 500, 'internal_error'],
  ])('map %s to %i %s', (error, status, code) => {
    const refusal = refusalOfError(error)
    expect(refusal).toMatchObject({ status, code })
    expect(JSON.stringify([refusal.body, refusal.headers])).not.toMatch(/acme-cloud|secret detail|not a function/)
    expect('Retry-After' in refusal.headers).toBe(status === 503)
  })

  test('say that a truncated response is charged', () => {
    expect(refusalOfBreak(failed({ kind: 'cut' })).body).toMatchObject({
      code: 'provider_failed',
      message: expect.stringContaining('are charged'),
    })
    expect(refusalOfBreak(failed({ kind: 'timeout' })).body).toMatchObject({
      code: 'provider_timeout',
      message: expect.stringContaining('are charged'),
    })
  })
})
