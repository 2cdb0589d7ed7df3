import type { RefusalCode } from '@gateway/contracts/refusal'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { expect, test } from 'vitest'
import { refusalOfAdmission } from './refusal-of-admission.ts'
import { refusalOfProvider } from './refusal-of-provider.ts'

const refused = (code: string, facts: object = {}) =>
  refusalOfAdmission({ code: code as RefusalCode, facts: facts as Record<string, unknown> }, 'acme/swift').body

test('a node is told why its call was not admitted [key_revoked] [key_issuer_denied] [not_permitted] [product_not_assigned] [key_scope]', () => {
  expect(refused('key_revoked', { rotatedTo: null })).toMatchObject({ code: 'key_revoked' })
  expect(refused('key_revoked', { rotatedTo: 'key_2' })).toMatchObject({ details: { rotatedTo: 'key_2' } })
  for (const code of ['key_issuer_denied', 'not_permitted']) expect(refused(code)).toMatchObject({ code })
  for (const code of ['product_not_assigned', 'key_scope'])
    expect(refused(code)).toMatchObject({ code, message: expect.stringContaining('acme/swift') as string })
})

test('a node is told what the call needs and what there is [context_limit] [key_limit] [insufficient_budget]', () => {
  const context = { promptTokens: 9, outputCap: 2, contextLength: 10, maxOutputTokens: 5 }
  expect(refused('context_limit', context)).toMatchObject({ code: 'context_limit', details: context })
  const limit = { limitMicro: 5, spentMicro: 3, reservedMicro: 1, neededMicro: 2 }
  expect(refused('key_limit', { ...limit, reset: 'daily', windowStart: '2026-11-20T00:00:00+00:00' })).toMatchObject({
    details: { ...limit, resetsAt: '2026-11-21T00:00:00Z' },
  })
  const budget = { availableMicro: 1, reservedMicro: 0, neededMicro: 2, affordableMaxTokens: 0 }
  expect(refused('insufficient_budget', budget)).toMatchObject({ code: 'insufficient_budget', details: budget })
})

test('what the model does not take names the param or port at fault [invalid_request]', () => {
  expect(refused('unsupported_parameter', { param: 'tools' })).toMatchObject({
    code: 'invalid_request',
    param: 'tools',
  })
  expect(refused('images_unsupported')).toMatchObject({ code: 'invalid_request', param: 'image' })
  expect(() => refused('key_expired')).toThrow('key_expired')
})

test('nothing of a provider gets through [provider_failed] [provider_timeout] [unavailable] [invalid_request]', () => {
  const told = (kind: ProviderFailure['kind'], providerStatus?: number) =>
    refusalOfProvider(new ProviderFailure({ kind, provider: 'secret-name', detail: 'secret words', providerStatus }))
      .body
  expect(told('timeout').code).toBe('provider_timeout')
  expect(told('circuit_open').code).toBe('unavailable')
  expect(told('refused', 400).code).toBe('invalid_request')
  for (const status of [401, 429, 500]) expect(told('refused', status).code).toBe('provider_failed')
  for (const kind of ['cut', 'garbage', 'too_large', 'unreachable'] as const) {
    expect(told(kind).code).toBe('provider_failed')
    expect(JSON.stringify(told(kind))).not.toContain('secret')
  }
})
