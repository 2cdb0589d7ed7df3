import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { z } from 'zod'

// How often a key and a project may call, where an operator says so (decisions.md, 1: 429). Each gateway counts for itself.
//   R1  What counts is an admitted call: no replay, nobody who waits for a running call, and no refused one.
//   R2  A key is known by its id and its project, which the ledger names at its first call.

const rate = z.strictObject({
  requests: z.int().min(1).max(1_000_000).describe('calls at most'),
  seconds: z.int().min(1).max(3_600).describe('in so many seconds, counted from the first'),
})
const exceptions = z.record(z.string(), rate.nullable())

/** The `RATES` variable; whoever has none may call as often as he likes. */
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
  /** Counts an admitted call, and answers if it is one too many. */
  count(keyHash: string, admitted: { key: string; project: string }): Promise<Exceeded | null>
}

type Limit = Pick<Exceeded, 'scope' | 'rate'> & { limiter: RateLimiterMemory; of: string }

const KEYS_REMEMBERED = 50_000

export function openRates(config: RatesConfig): Rates {
  const known = new Map<string, Limit[]>()
  const limiters = new Map<string, RateLimiterMemory>()

  function limitsOf({ key, project }: { key: string; project: string }): Limit[] {
    return [
      ...limitOf('key', key, config.keys?.[key], config.key),
      ...limitOf('project', project, config.projects?.[project], config.project),
    ]
  }

  function limitOf(scope: Limit['scope'], of: string, own: Rate | null | undefined, usual: Rate | undefined): Limit[] {
    const rate = own === undefined ? usual : own
    return rate ? [{ scope, of, rate, limiter: limiterOf(rate) }] : []
  }

  /** One for all who have the same rate. */
  function limiterOf({ requests, seconds }: Rate): RateLimiterMemory {
    const name = `${requests}/${seconds}`
    const limiter = limiters.get(name) ?? new RateLimiterMemory({ points: requests, duration: seconds })
    limiters.set(name, limiter)
    return limiter
  }

  return {
    async exceeded(keyHash) {
      for (const { scope, rate, limiter, of } of known.get(keyHash) ?? []) {
        const now = await limiter.get(of)
        if (now && now.remainingPoints === 0 && now.msBeforeNext > 0)
          return { scope, rate, retryAfterMs: now.msBeforeNext }
      }
      return null
    },
    async count(keyHash, admitted) {
      let limits = known.get(keyHash)
      if (!limits) {
        limits = limitsOf(admitted)
        if (known.size >= KEYS_REMEMBERED) known.clear()
        known.set(keyHash, limits)
      }
      for (const { scope, rate, limiter, of } of limits) {
        const over = await tooMany(limiter, of)
        if (over) return { scope, rate, retryAfterMs: over.msBeforeNext }
      }
      return null
    },
  }
}

async function tooMany(limiter: RateLimiterMemory, of: string): Promise<RateLimiterRes | null> {
  try {
    await limiter.consume(of)
    return null
  } catch (error) {
    if (error instanceof RateLimiterRes) return error
    throw error
  }
}

/** What he is told. */
export function tooOften({ scope, rate, retryAfterMs }: Exceeded): Refusal {
  return refuse('rate_limited', {}, { retryAfterMs, details: { scope, ...rate } })
}
