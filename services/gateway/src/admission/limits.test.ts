import { Refusal } from '@gateway/api/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openConcurrencyLimiter, type ConcurrencyLimiter, type Permit } from './limits.ts'

/** A permit for a key whose project is known. */
function acquireFor(limiter: ConcurrencyLimiter, project: string): Permit | null {
  try {
    const permit = limiter.acquire(`key of ${project}`)
    permit.attributeTo(project)
    return permit
  } catch (error) {
    expect(error).toMatchObject({ code: 'overloaded', status: 503, headers: { 'Retry-After': '1' } })
    return null
  }
}

/** Acquires until there is no room. */
function fill(limiter: ConcurrencyLimiter, project: string): Permit[] {
  const permits: Permit[] = []
  for (let permit = acquireFor(limiter, project); permit; permit = acquireFor(limiter, project)) permits.push(permit)
  return permits
}

describe('permits', () => {
  test('are never more than there are [overloaded]', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 10 })
    for (let n = 0; n < 20; n++) fill(limiter, `prj_${n}`)
    expect(limiter.count()).toBe(10)
    expect(() => limiter.acquire('new')).toThrow(Refusal)
  })

  test('of a project that wants all of them leave some for others', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100 })
    expect(fill(limiter, 'prj_busy')).toHaveLength(80)
    expect(fill(limiter, 'prj_new').length).toBeGreaterThanOrEqual(16)
    expect(acquireFor(limiter, 'prj_late')).not.toBe(null)
  })

  test('come to be shared alike between projects that want all of them', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100 })
    const acquired = { prj_1: fill(limiter, 'prj_1'), prj_2: [] as Permit[], prj_3: [] as Permit[] }
    // Calls end in the order in which they began, and each project wants more at once.
    for (let round = 0; round < 500; round++)
      for (const [project, own] of Object.entries(acquired)) {
        own.shift()?.release()
        own.push(...fill(limiter, project))
      }
    const shares = Object.values(acquired).map(({ length }) => length)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(3)
    expect(Math.min(...shares)).toBeGreaterThan(25)
  })

  test('of one project may be bounded', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100, maxOfProject: 7 })
    expect(fill(limiter, 'prj_1')).toHaveLength(7)
    expect(fill(limiter, 'prj_2')).toHaveLength(7)
  })

  test('are there even where there is only one', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 1 })
    const permit = acquireFor(limiter, 'prj_1')!
    expect(acquireFor(limiter, 'prj_2')).toBe(null)
    permit.release()
    expect(acquireFor(limiter, 'prj_2')).not.toBe(null)
  })

  test('of unidentified keys are one part together, and half of it for one', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100 })
    const acquireAll = (keyHash: string): number => {
      for (let n = 0; ; n++)
        try {
          limiter.acquire(keyHash)
        } catch {
          return n
        }
    }
    expect(acquireAll('flood')).toBeLessThanOrEqual(50)
    for (let n = 0; n < 200; n++) acquireAll(`another ${n}`)
    expect(limiter.count()).toBeLessThanOrEqual(81)
    expect(acquireFor(limiter, 'prj_1')).toBe(null) // unidentified too, at its first call
  })

  test('of a key count for its project from its first admission on, also with its other keys', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100, maxOfProject: 2 })
    const first = limiter.acquire('key 1')
    first.attributeTo('prj_1')
    limiter.acquire('key 2').attributeTo('prj_1')
    expect(() => limiter.acquire('key 1')).toThrow('overloaded')
    expect(() => limiter.acquire('key 2')).toThrow('overloaded')
    first.release()
    limiter.acquire('key 2')
    expect(() => limiter.acquire('key 1')).toThrow('overloaded')
  })

  test('give back what hangs on them once, when they are released or at once if they were', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 2 })
    const permit = limiter.acquire('key')
    const given: string[] = []
    permit.onRelease(() => given.push('before'))
    expect(given).toEqual([])
    permit.release()
    permit.release()
    permit.onRelease(() => given.push('after'))
    expect(given).toEqual(['before', 'after'])
  })

  test('add up, no matter what comes and goes in any order', () => {
    const step = fc.record({
      key: fc.nat(5),
      what: fc.constantFrom('acquire', 'attribute', 'release', 'release twice'),
      which: fc.nat(9),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const limiter = openConcurrencyLimiter({ maxPermits: 8 })
        const open: { permit: Permit; key: number }[] = []
        for (const { key, what, which } of steps) {
          const chosen = open[which % Math.max(1, open.length)]
          if (what === 'acquire')
            try {
              open.push({ permit: limiter.acquire(`key ${key}`), key })
            } catch {
              expect(open.length).toBeGreaterThan(0)
            }
          else if (chosen && what === 'attribute') chosen.permit.attributeTo(`prj_${chosen.key % 2}`)
          else if (chosen) {
            chosen.permit.release()
            if (what === 'release twice') chosen.permit.release()
            open.splice(open.indexOf(chosen), 1)
          }
          expect(limiter.count()).toBe(open.length)
        }
        for (const { permit } of open) permit.release()
        expect(limiter.count()).toBe(0)
        expect(fill(limiter, 'prj_fresh')).toHaveLength(7) // nothing is left of what was released
      }),
    )
  })
})
