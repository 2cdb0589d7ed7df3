import { expect, test } from 'vitest'
import { ProviderFailure, refusalOfProvider } from './provider-failure.ts'

test('reveals nothing of the provider [provider_failed] [provider_timeout] [overloaded] [unavailable] [invalid_request]', () => {
  const reported = (kind: ProviderFailure['kind'], providerStatus?: number) =>
    refusalOfProvider(new ProviderFailure({ kind, provider: 'secret-name', detail: 'secret words', providerStatus }))
      .body
  expect(reported('timeout').code).toBe('provider_timeout')
  expect(reported('busy').code).toBe('overloaded')
  expect(reported('circuit_open').code).toBe('unavailable')
  expect(reported('refused', 400).code).toBe('invalid_request')
  for (const status of [401, 429, 500]) expect(reported('refused', status).code).toBe('provider_failed')
  for (const kind of ['cut', 'garbage', 'too_large', 'unreachable'] as const) {
    expect(reported(kind).code).toBe('provider_failed')
    expect(JSON.stringify(reported(kind))).not.toContain('secret')
  }
})

test('names the limit that a response exceeds, and does not advise to retry [invalid_request]', () => {
  const failure = new ProviderFailure({
    kind: 'too_large',
    provider: 'secret-name',
    detail: 'secret',
    limitBytes: 5_000,
  })
  const { code, message, resolution } = refusalOfProvider(failure).body
  expect([code, message]).toEqual(['invalid_request', 'The response is larger than 5000 bytes. Nothing is charged.'])
  expect(resolution).toMatch(/^Request a smaller response/)
  expect(resolution).not.toMatch(/retry/i)
})

test('names the field that a wire format cannot express, with the resolution [invalid_request]', () => {
  const unsayable = { field: 'messages.2.name', problem: 'names a speaker', instead: 'leave it out' }
  const failure = new ProviderFailure({
    kind: 'refused',
    provider: 'secret-name',
    detail: 'secret words',
    providerStatus: 400,
    asked: false,
    unsayable,
  })
  expect(refusalOfProvider(failure).body).toMatchObject({
    code: 'invalid_request',
    param: 'messages.2.name',
    message: 'This model does not take the request: messages.2.name names a speaker. Nothing is charged.',
    resolution: 'Correct messages.2.name: leave it out. Or use another model from GET /v1/models.',
  })
})
