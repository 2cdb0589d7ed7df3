import { Refusal, refuse } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'
import { openConcurrencyLimiter, type ConcurrencyLimiter, type Permit } from '../http/caller-permits.ts'

const whenFull = () => refuse('overloaded', {})

function acquireFor(limiter: ConcurrencyLimiter, party: string): Permit | null {
  try {
    return limiter.acquire(party)
  } catch (error) {
    expect(error).toMatchObject({ code: 'overloaded', status: 503, headers: { 'Retry-After': '1' } })
    return null
  }
}

/** Acquires permits until the limiter refuses. */
function fill(limiter: ConcurrencyLimiter, party: string): Permit[] {
  const permits: Permit[] = []
  for (let permit = acquireFor(limiter, party); permit; permit = acquireFor(limiter, party)) permits.push(permit)
  return permits
}

describe('concurrency limiter', () => {
  test('never grants more permits than it has [overloaded]', () => {
    const limiter = openConcurrencyLimiter({ whenFull, maxPermits: 10 })
    for (let n = 0; n < 20; n++) fill(limiter, `party_${n}`)
    expect(limiter.count()).toBe(10)
    expect(() => limiter.acquire('new')).toThrow(Refusal)
  })

  test('leaves permits for other projects if one project takes as many as it can', () => {
    const limiter = openConcurrencyLimiter({ whenFull, maxPermits: 100 })
    expect(fill(limiter, 'party_busy')).toHaveLength(80)
    expect(fill(limiter, 'party_new').length).toBeGreaterThanOrEqual(16)
    expect(acquireFor(limiter, 'party_late')).not.toBe(null)
  })

  test('converges to equal shares between projects that each take as many permits as they can', () => {
    const limiter = openConcurrencyLimiter({ whenFull, maxPermits: 100 })
    const acquired = { party_1: fill(limiter, 'party_1'), party_2: [] as Permit[], party_3: [] as Permit[] }
    // Calls end in the order in which they started, and each project immediately asks for more.
    for (let round = 0; round < 500; round++)
      for (const [project, own] of Object.entries(acquired)) {
        own.shift()?.release()
        own.push(...fill(limiter, project))
      }
    const shares = Object.values(acquired).map(({ length }) => length)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(3)
    expect(Math.min(...shares)).toBeGreaterThan(25)
  })

  test('says whether a party holds its maximum or the others hold the rest', () => {
    const told: boolean[] = []
    const limiter = openConcurrencyLimiter({
      maxPermits: 4,
      maxOfParty: 2,
      whenFull: (hasMaximum) => (told.push(hasMaximum), whenFull()),
    })
    fill(limiter, 'party_1')
    fill(limiter, 'party_2')
    fill(limiter, 'party_3')
    expect(told).toEqual([true, true, false])
  })

  test('caps the permits of one party at maxOfParty', () => {
    const limiter = openConcurrencyLimiter({ whenFull, maxPermits: 100, maxOfParty: 7 })
    expect(fill(limiter, 'party_1')).toHaveLength(7)
    expect(fill(limiter, 'party_2')).toHaveLength(7)
  })

  test('grants and re-grants its only permit', () => {
    const limiter = openConcurrencyLimiter({ whenFull, maxPermits: 1 })
    const permit = acquireFor(limiter, 'party_1')!
    expect(acquireFor(limiter, 'party_2')).toBe(null)
    permit.release()
    expect(acquireFor(limiter, 'party_2')).not.toBe(null)
  })

  test('runs each release callback once: on release, or immediately if the permit was already released', () => {
    const limiter = openConcurrencyLimiter({ whenFull, maxPermits: 2 })
    const permit = limiter.acquire('key')
    const given: string[] = []
    permit.onRelease(() => given.push('before'))
    expect(given).toEqual([])
    permit.release()
    permit.release()
    permit.onRelease(() => given.push('after'))
    expect(given).toEqual(['before', 'after'])
  })

  test('counts open permits correctly for any sequence of acquires and releases', () => {
    for (let history = 1; history <= 200; history++) {
      const random = numbersFrom(history)
      const limiter = openConcurrencyLimiter({ maxPermits: 8, whenFull })
      const open: Permit[] = []
      for (let step = 0; step < 200; step++) {
        const chosen = open[random(open.length + 1)]
        const permit = random(2) === 0 ? acquireFor(limiter, `party ${random(6)}`) : null
        if (permit) open.push(permit)
        else if (chosen) {
          chosen.release()
          if (random(2) === 0) chosen.release()
          open.splice(open.indexOf(chosen), 1)
        }
        expect(limiter.count()).toBe(open.length)
      }
      for (const permit of open) permit.release()
      expect(limiter.count()).toBe(0)
      expect(fill(limiter, 'fresh')).toHaveLength(7) // released permits leave no residue
    }
  })
})

/** Returns pseudo-random whole numbers below a bound, the same for each seed. */
function numbersFrom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
}
