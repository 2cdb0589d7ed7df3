import type { ServerResponse } from 'node:http'
import { type Refusal, refuse } from '@gateway/api/refusal'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { z } from 'zod'

// How many requests may be under way at once.
//   P1  At most `maxPermits`. One project has at most SHARE times the permits that are free, so it may have fewer the
//       busier the process is. However many a busy project has, a permit is left for a project that comes new, and
//       projects that want more than there is get equal parts.
//   P2  The project of a key is known once the ledger has named it. Until then the key is unidentified and counts for
//       itself. All unidentified keys together have the part of one project, and one of them at most half of what is
//       left of that part, so that keys which no project has can't fill the process.
//   P3  A permit is kept until the work is done and the answer is taken, also when its caller has disconnected.

export interface ConcurrencyLimiter {
  /** @throws Refusal `overloaded` */
  acquire(keyHash: string): Permit
  count(): number
}

export interface Permit {
  /**
   * From now on it counts for this project, and so does every later permit of the same key, whose project never
   * changes.
   */
  attributeTo(project: string): void
  /** Gives something back when it is released; at once if it was. */
  onRelease(giveBack: () => void): void
  /** Safe to repeat. */
  release(): void
}

interface Options {
  maxPermits: number
  /** Of one project, however free the process is. */
  maxOfProject?: number | undefined
}

const SHARE = 4
const KEYS_REMEMBERED = 50_000

export function openConcurrencyLimiter({ maxPermits, maxOfProject = maxPermits }: Options): ConcurrencyLimiter {
  const projects = new LRUCache<string, string>({ max: KEYS_REMEMBERED }) // by key
  const acquired = new Map<string, number>() // by project, or by key where it is unidentified
  let total = 0
  let unidentified = 0

  const acquiredBy = (party: string) => acquired.get(party) ?? 0

  function add(party: string, permits: 1 | -1): void {
    const sum = acquiredBy(party) + permits
    if (sum === 0) acquired.delete(party)
    else acquired.set(party, sum)
  }

  function hasRoom(keyHash: string, project: string | undefined): boolean {
    const part = Math.min(maxOfProject, SHARE * (maxPermits - total)) // P1
    return project === undefined ? acquiredBy(keyHash) < part - unidentified : acquiredBy(project) < part // P2
  }

  return {
    acquire(keyHash) {
      let project = projects.get(keyHash)
      if (!hasRoom(keyHash, project)) throw refuse('overloaded', {})
      total++
      add(project ?? keyHash, 1)
      if (project === undefined) unidentified++
      let released = false
      const givesBack: (() => void)[] = []

      return {
        attributeTo(named) {
          projects.set(keyHash, named)
          if (released || project !== undefined) return
          project = named
          unidentified--
          add(keyHash, -1)
          add(named, 1)
        },
        onRelease(giveBack) {
          if (released) giveBack()
          else givesBack.push(giveBack)
        },
        release() {
          if (released) return
          released = true
          for (const giveBack of givesBack) giveBack()
          total--
          add(project ?? keyHash, -1)
          if (project === undefined) unidentified--
        },
      }
    },
    count: () => total,
  }
}

/**
 * Does the work of a request while it has a permit. A request without one is refused before anything of its body is
 * read; a request with one keeps it until the work is done and the answer is taken, or its caller has disconnected
 * (rules §3.8).
 * @throws Refusal `overloaded`
 */
export async function withPermit(
  limiter: Pick<ConcurrencyLimiter, 'acquire'>,
  res: ServerResponse,
  keyHash: string,
  work: (permit: Permit) => Promise<void>,
): Promise<void> {
  const permit = limiter.acquire(keyHash)
  let reasonsToKeep = 2
  const done = () => {
    if (--reasonsToKeep === 0) permit.release()
  }
  res.once('close', done)
  try {
    await work(permit)
  } finally {
    done()
  }
}

/**
 * Asks the ledger while the asking key has a permit; the answer is small, so it is not waited for until it is taken.
 * @throws Refusal `overloaded`
 */
export async function askWithPermit<Answer>(
  limiter: Pick<ConcurrencyLimiter, 'acquire'>,
  keyHash: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const permit = limiter.acquire(keyHash)
  try {
    return await ask()
  } finally {
    permit.release()
  }
}

// Calls that wait for the ledger's decision. They wait for processors and disks, not for a model, so a long queue helps
// no one: all calls in it are late, and the next one will be later. When `maxWaiting` calls wait, the next one is
// refused.

export interface AdmissionQueueLimit {
  /**
   * @throws Refusal `overloaded` where the queue is full: checked before a call is read, and again before the ledger is
   * asked
   */
  refuseIfFull(): void
  /** Counts work that waits. */
  during<T>(work: () => Promise<T>): Promise<T>
}

export function openAdmissionQueueLimit(maxWaiting: number): AdmissionQueueLimit {
  let waiting = 0
  return {
    refuseIfFull() {
      if (waiting >= maxWaiting) throw refuse('overloaded', {})
    },
    async during(work) {
      waiting++
      try {
        return await work()
      } finally {
        waiting--
      }
    },
  }
}

/** Why a running call was ended: this process had to stop, and the time that the call had left was over. */
export class ProcessStopping extends Error {
  constructor() {
    super('the process is stopping')
  }
}

/**
 * The work that is under way: calls, also those whose caller has disconnected, and settlements that outlast their call.
 */
export interface OpenCalls {
  /** Runs a call. */
  run(call: () => Promise<void>): Promise<void>
  /** Counts work that continues after its call was answered. */
  track<T>(work: Promise<T>): Promise<T>
  /** Aborts, by `ProcessStopping`, when running calls have to end now. */
  cancellation: AbortSignal
  /** Calls under way, without the work that is only tracked. */
  count(): number
  /** Waits until all work has ended. */
  idle(): Promise<void>
}

interface OpenCallsOptions {
  /** Aborts when this process begins to stop; from then on calls have `finishMs` to end by themselves. */
  stopping: AbortSignal
  finishMs: number
}

export function trackOpenCalls({ stopping, finishMs }: OpenCallsOptions): OpenCalls {
  const underWay = new Set<Promise<unknown>>()
  const cancellation = new AbortController()
  let calls = 0
  stopping.addEventListener(
    'abort',
    () => void setTimeout(() => cancellation.abort(new ProcessStopping()), finishMs).unref(),
  )

  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => underWay.delete(tracked))
    underWay.add(tracked)
    return tracked
  }

  return {
    async run(call) {
      calls++
      try {
        await track(call())
      } finally {
        calls--
      }
    },
    track,
    cancellation: cancellation.signal,
    count: () => calls,
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}

// How often a key and a project may call, where an operator says so (rules §2.8). Each gateway counts for
// itself.
//   R1  What counts is an admitted call. A replay, a call that waits for a running one and a refused call do not count.
//   R2  A key is known by its id and its project, which the ledger names at its first call.

const rate = z.strictObject({
  requests: z.int().min(1).max(1_000_000).describe('calls at most'),
  seconds: z.int().min(1).max(3_600).describe('in this many seconds, counted from the first'),
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

const KEYS_COUNTED = 50_000

export function openRates(config: RatesConfig): Rates {
  const known = new LRUCache<string, Limit[]>({ max: KEYS_COUNTED }) // by key
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

/** The refusal for the caller. */
export function tooOften({ scope, rate, retryAfterMs }: Exceeded): Refusal {
  return refuse('rate_limited', {}, { retryAfterMs, details: { scope, ...rate } })
}
