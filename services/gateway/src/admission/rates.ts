import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { z } from 'zod'

// How often a key and a project may call, where an operator says so (rules §2.8). Each gateway counts for
// itself.
//   R1  What counts is an admitted call. A replay, a call that waits for a running one and a refused call do not count.
//   R2  A key is known by its id and its project, which the ledger names at its first call.

const rate = z.strictObject({
  requests: z.int().min(1).max(1_000_000).describe('calls at most'),
  seconds: z.int().min(1).max(3_600).describe('in so many seconds, counted from the first'),
})
const exceptions = z.record(z.string(), rate.nullable())

/** The `RATES` variable. A key and a project without a rate may call as often as they like. */
export const ratesConfig = z.strictObject({
  key: rate.optional().describe('of each key'),
  project: rate.optional().describe('of each project, all of its keys together'),
  keys: exceptions.optional().describe('of single keys, by id; null: none'),
  projects: exceptions.optional().describe('of single projects, by id; null: none'),
})
export type RatesConfig = z.output<typeof ratesConfig>
type Rate = z.output<typeof rate>

export interface Exceeded {
  scope: 'key' | 'project'
  rate: Rate
  retryAfterMs: number
}

export interface Rates {
  /** Null also for a key that isn't known yet (R2). */
  exceeded(keyHash: string): Promise<Exceeded | null>
  /** Counts an admitted call; answers what it exceeds where it is one too many. */
  count(keyHash: string, admitted: { key: string; project: string }): Promise<Exceeded | null>
}

type Limit = Pick<Exceeded, 'scope' | 'rate'> & { limiter: RateLimiterMemory; subject: string }

const KEYS_REMEMBERED = 50_000

export function openRates(config: RatesConfig): Rates {
  const known = new LRUCache<string, Limit[]>({ max: KEYS_REMEMBERED }) // by key
  const limiters = new Map<string, RateLimiterMemory>()

  function limitsOf({ key, project }: { key: string; project: string }): Limit[] {
    return [
      ...limitOf('key', key, config.keys?.[key], config.key),
      ...limitOf('project', project, config.projects?.[project], config.project),
    ]
  }

  function limitOf(
    scope: Limit['scope'],
    subject: string,
    own: Rate | null | undefined,
    usual: Rate | undefined,
  ): Limit[] {
    const rate = own === undefined ? usual : own
    return rate ? [{ scope, subject, rate, limiter: limiterOf(rate) }] : []
  }

  /** One for all keys and projects that have the same rate. */
  function limiterOf({ requests, seconds }: Rate): RateLimiterMemory {
    const name = `${requests}/${seconds}`
    const limiter = limiters.get(name) ?? new RateLimiterMemory({ points: requests, duration: seconds })
    limiters.set(name, limiter)
    return limiter
  }

  return {
    async exceeded(keyHash) {
      for (const { scope, rate, limiter, subject } of known.get(keyHash) ?? []) {
        const now = await limiter.get(subject)
        if (now && now.remainingPoints === 0 && now.msBeforeNext > 0)
          return { scope, rate, retryAfterMs: now.msBeforeNext }
      }
      return null
    },
    async count(keyHash, admitted) {
      let limits = known.get(keyHash)
      if (!limits) {
        limits = limitsOf(admitted)
        known.set(keyHash, limits)
      }
      for (const { scope, rate, limiter, subject } of limits) {
        const exceeded = await consume(limiter, subject)
        if (exceeded) return { scope, rate, retryAfterMs: exceeded.msBeforeNext }
      }
      return null
    },
  }
}

/** null: it was not one too many. */
async function consume(limiter: RateLimiterMemory, subject: string): Promise<RateLimiterRes | null> {
  try {
    await limiter.consume(subject)
    return null
  } catch (error) {
    if (error instanceof RateLimiterRes) return error
    throw error
  }
}

/** What the caller is told. */
export function tooOften({ scope, rate, retryAfterMs }: Exceeded): Refusal {
  return refuse('rate_limited', {}, { retryAfterMs, details: { scope, ...rate } })
}
