import { backOffMs, type BackOffLimits } from '@gateway/service-kit/async/back-off'
import type { ProviderFailure } from './provider-failure.ts'

/** A longer `Retry-After` isn't waited for: the caller decides better what to do with the time. */
const longestRetryAfterMs = 10_000

const BACK_OFF: BackOffLimits = { firstMs: 250, maxMs: Infinity }

/** Statuses that the same provider may not answer with a moment later. */
const passing = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])

/** Codes under a passing status that no moment clears. */
const lasting = new Set(['insufficient_quota', 'billing_error'])

/**
 * How long to wait before the same provider is asked again, in milliseconds, or null when it isn't worth it: what its
 * `Retry-After` asks for, and a back-off that doubles, of which a random half keeps callers from coming back together.
 * `tries`: how often it was asked. `random`: from 0 to 1.
 */
export function retryDelayMs(failure: ProviderFailure, tries: number, random: () => number): number | null {
  const { retryAfterMs = 0 } = failure
  if (!isPassing(failure) || retryAfterMs > longestRetryAfterMs) return null
  return retryAfterMs + backOffMs(tries, BACK_OFF) * (0.5 + random() / 2)
}

/** A limit that ran out once would mostly run out again, and what came in the wrong form would come in it again. */
function isPassing({ kind, asked, providerStatus, providerCode }: ProviderFailure): boolean {
  if (!asked) return false
  if (kind !== 'refused') return kind === 'cut' || kind === 'unreachable'
  return providerStatus === undefined || (passing.has(providerStatus) && !lasting.has(providerCode ?? ''))
}
