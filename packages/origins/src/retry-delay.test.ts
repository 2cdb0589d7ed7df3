import { expect, test } from 'vitest'
import { OriginFailure } from './origin-failure.ts'
import type { FailureFacts } from './origin-failure.ts'
import { retryDelayMs } from './retry-delay.ts'

const failure = (facts: Partial<FailureFacts>) =>
  new OriginFailure({ kind: 'refused', origin: 'first', detail: 'x', ...facts })

test('a back-off doubles, and half of it is by chance', () => {
  const cut = failure({ kind: 'cut' })
  expect([1, 2, 3].map((tries) => retryDelayMs(cut, tries, () => 0))).toEqual([125, 250, 500])
  expect([1, 2, 3].map((tries) => retryDelayMs(cut, tries, () => 1))).toEqual([250, 500, 1_000])
})

test('Retry-After comes first, up to 10 s', () => {
  expect(retryDelayMs(failure({ originStatus: 429, retryAfterMs: 3_000 }), 1, () => 0)).toBe(3_125)
  expect(retryDelayMs(failure({ originStatus: 503, retryAfterMs: 10_000 }), 1, () => 0)).toBe(10_125)
  expect(retryDelayMs(failure({ originStatus: 429, retryAfterMs: 10_001 }), 1, () => 0)).toBeNull()
})

test.each<[Partial<FailureFacts>]>([
  [{ kind: 'unreachable' }],
  [{ kind: 'cut' }],
  [{}],
  [{ originStatus: 408 }],
  [{ originStatus: 429 }],
  [{ originStatus: 500 }],
  [{ originStatus: 503 }],
  [{ originStatus: 529, originCode: 'overloaded_error' }],
])('%j may pass', (facts) => {
  expect(retryDelayMs(failure(facts), 1, () => 0)).toBe(125)
})

test.each<[Partial<FailureFacts>]>([
  [{ kind: 'timeout' }],
  [{ kind: 'garbage' }],
  [{ kind: 'too_large' }],
  [{ kind: 'unreachable', asked: false }],
  [{ kind: 'resting', asked: false }],
  [{ originStatus: 400 }],
  [{ originStatus: 401 }],
  [{ originStatus: 404 }],
  [{ originStatus: 501 }],
  [{ originStatus: 429, originCode: 'insufficient_quota' }],
])('%j is not asked again', (facts) => {
  expect(retryDelayMs(failure(facts), 1, () => 0)).toBeNull()
})
