import { expect, test } from 'vitest'
import { ProviderFailure } from './provider-failure.ts'
import type { FailureFacts } from './provider-failure.ts'
import { retryDelayMs } from './try-routes.ts'

const failure = (facts: Partial<FailureFacts>) =>
  new ProviderFailure({ kind: 'refused', provider: 'first', detail: 'x', ...facts })

test('doubles the back-off and randomizes half of it', () => {
  const cut = failure({ kind: 'cut' })
  expect([1, 2, 3].map((tries) => retryDelayMs(cut, tries, () => 0))).toEqual([125, 250, 500])
  expect([1, 2, 3].map((tries) => retryDelayMs(cut, tries, () => 1))).toEqual([250, 500, 1_000])
})

test('adds Retry-After of up to 10 s, and does not retry above that', () => {
  expect(retryDelayMs(failure({ providerStatus: 429, retryAfterMs: 3_000 }), 1, () => 0)).toBe(3_125)
  expect(retryDelayMs(failure({ providerStatus: 503, retryAfterMs: 10_000 }), 1, () => 0)).toBe(10_125)
  expect(retryDelayMs(failure({ providerStatus: 429, retryAfterMs: 10_001 }), 1, () => 0)).toBeNull()
})

test.each<[Partial<FailureFacts>]>([
  [{ kind: 'unreachable' }],
  [{ kind: 'cut' }],
  [{}],
  [{ providerStatus: 408 }],
  [{ providerStatus: 429 }],
  [{ providerStatus: 500 }],
  [{ providerStatus: 503 }],
  [{ providerStatus: 529, providerCode: 'overloaded_error' }],
])('retries the same provider after %j', (facts) => {
  expect(retryDelayMs(failure(facts), 1, () => 0)).toBe(125)
})

test.each<[Partial<FailureFacts>]>([
  [{ kind: 'timeout' }],
  [{ kind: 'garbage' }],
  [{ kind: 'too_large' }],
  [{ kind: 'unreachable', asked: false }],
  [{ kind: 'circuit_open', asked: false }],
  [{ providerStatus: 400 }],
  [{ providerStatus: 401 }],
  [{ providerStatus: 404 }],
  [{ providerStatus: 501 }],
  [{ providerStatus: 429, providerCode: 'insufficient_quota' }],
])('does not retry the same provider after %j', (facts) => {
  expect(retryDelayMs(failure(facts), 1, () => 0)).toBeNull()
})
