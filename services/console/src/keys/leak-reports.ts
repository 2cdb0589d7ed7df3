import { LRUCache } from 'lru-cache'
import { refuse } from '@gateway/api/refusal'
import { addressBlock } from '@gateway/service-kit/http/connections'

/** Per address block and minute. */
const MAX_REPORTS = 60
const MINUTE_MS = 60_000
const ADDRESSES_COUNTED = 10_000

/** Limits reports of leaked secrets, for which no one signs in. */
export interface LeakReports {
  /**
   * Counts a report from an address.
   * @throws Refusal `rate_limited`
   */
  admit(address: string): void
}

/** Counts in memory: a report costs three look-ups, so what it saves must cost less than one. */
export function openLeakReports(): LeakReports {
  const counts = new LRUCache<string, number>({ max: ADDRESSES_COUNTED, ttl: MINUTE_MS })
  return {
    admit(address) {
      const block = addressBlock(address)
      const count = (counts.get(block) ?? 0) + 1
      counts.set(block, count, { noUpdateTTL: true })
      if (count > MAX_REPORTS) throw refuse('rate_limited', {}, { retryAfterMs: counts.getRemainingTTL(block) })
    },
  }
}
