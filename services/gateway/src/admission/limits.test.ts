import { Refusal } from '@gateway/api/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openConcurrencyLimiter, type ConcurrencyLimiter, type Permit } from './limits.ts'

function acquireFor(limiter: ConcurrencyLimiter, project: string): Permit | null {
  try {
    return limiter.acquire(project)
  } catch (error) {
    expect(error).toMatchObject({ code: 'overloaded', status: 503, headers: { 'Retry-After': '1' } })
    return null
  }
}

/** Acquires permits until the limiter refuses. */
function fill(limiter: ConcurrencyLimiter, project: string): Permit[] {
  const permits: Permit[] = []
  for (let permit = acquireFor(limiter, project); permit; permit = acquireFor(limiter, project)) permits.push(permit)
  return permits
}

describe('concurrency limiter', () => {
  test('never grants more permits than it has [overloaded]', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 10 })
    for (let n = 0; n < 20; n++) fill(limiter, `prj_${n}`)
    expect(limiter.count()).toBe(10)
    expect(() => limiter.acquire('new')).toThrow(Refusal)
  })

  test('leaves permits for other projects if one project takes as many as it can', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100 })
    expect(fill(limiter, 'prj_busy')).toHaveLength(80)
    expect(fill(limiter, 'prj_new').length).toBeGreaterThanOrEqual(16)
    expect(acquireFor(limiter, 'prj_late')).not.toBe(null)
  })

  test('converges to equal shares between projects that each take as many permits as they can', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100 })
    const acquired = { prj_1: fill(limiter, 'prj_1'), prj_2: [] as Permit[], prj_3: [] as Permit[] }
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

  test('caps the permits of one project at maxOfProject', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 100, maxOfProject: 7 })
    expect(fill(limiter, 'prj_1')).toHaveLength(7)
    expect(fill(limiter, 'prj_2')).toHaveLength(7)
  })

  test('grants and re-grants its only permit', () => {
    const limiter = openConcurrencyLimiter({ maxPermits: 1 })
    const permit = acquireFor(limiter, 'prj_1')!
    expect(acquireFor(limiter, 'prj_2')).toBe(null)
    permit.release()
    expect(acquireFor(limiter, 'prj_2')).not.toBe(null)
  })

  test('runs each release callback once: on release, or immediately if the permit was already released', () => {
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

  test('counts open permits correctly for any sequence of acquires and releases', () => {
    const step = fc.record({
      project: fc.nat(5),
      what: fc.constantFrom('acquire', 'release', 'release twice'),
      which: fc.nat(9),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const limiter = openConcurrencyLimiter({ maxPermits: 8 })
        const open: Permit[] = []
        for (const { project, what, which } of steps) {
          const chosen = open[which % Math.max(1, open.length)]
          if (what === 'acquire')
            try {
              open.push(limiter.acquire(`prj_${project}`))
            } catch {
              expect(open.length).toBeGreaterThan(0)
            }
          else if (chosen) {
            chosen.release()
            if (what === 'release twice') chosen.release()
            open.splice(open.indexOf(chosen), 1)
          }
          expect(limiter.count()).toBe(open.length)
        }
        for (const permit of open) permit.release()
        expect(limiter.count()).toBe(0)
        expect(fill(limiter, 'prj_fresh')).toHaveLength(7) // released permits leave no residue
      }),
    )
  })
})
