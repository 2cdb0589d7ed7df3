import { Refusal } from '@gateway/contracts/refusal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openConcurrencyLimiter, type Place, type ConcurrencyLimiter } from './concurrency-limiter.ts'

/** A place for a key whose project is known. */
function takeFor(places: ConcurrencyLimiter, project: string): Place | null {
  try {
    const place = places.take(`key of ${project}`)
    place.countsFor(project)
    return place
  } catch (error) {
    expect(error).toMatchObject({ code: 'overloaded', status: 503, headers: { 'Retry-After': '1' } })
    return null
  }
}

/** Takes until there is no room. */
function fill(places: ConcurrencyLimiter, project: string): Place[] {
  const taken: Place[] = []
  for (let place = takeFor(places, project); place; place = takeFor(places, project)) taken.push(place)
  return taken
}

describe('places', () => {
  test('are never more than there are [overloaded]', () => {
    const places = openConcurrencyLimiter({ most: 10 })
    for (let n = 0; n < 20; n++) fill(places, `prj_${n}`)
    expect(places.count()).toBe(10)
    expect(() => places.take('new')).toThrow(Refusal)
  })

  test('of a project that wants all of them leave some for whoever comes', () => {
    const places = openConcurrencyLimiter({ most: 100 })
    expect(fill(places, 'prj_busy')).toHaveLength(80)
    expect(fill(places, 'prj_new').length).toBeGreaterThanOrEqual(16)
    expect(takeFor(places, 'prj_late')).not.toBe(null)
  })

  test('come to be shared alike between projects that want all of them', () => {
    const places = openConcurrencyLimiter({ most: 100 })
    const taken = { prj_1: fill(places, 'prj_1'), prj_2: [] as Place[], prj_3: [] as Place[] }
    // Calls end in the order in which they began, and each project wants more at once.
    for (let round = 0; round < 500; round++)
      for (const [project, own] of Object.entries(taken)) {
        own.shift()?.leave()
        own.push(...fill(places, project))
      }
    const shares = Object.values(taken).map(({ length }) => length)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(3)
    expect(Math.min(...shares)).toBeGreaterThan(25)
  })

  test('of one project may be bounded', () => {
    const places = openConcurrencyLimiter({ most: 100, mostOfOne: 7 })
    expect(fill(places, 'prj_1')).toHaveLength(7)
    expect(fill(places, 'prj_2')).toHaveLength(7)
  })

  test('are there even in the smallest stack', () => {
    const places = openConcurrencyLimiter({ most: 1 })
    const place = takeFor(places, 'prj_1')!
    expect(takeFor(places, 'prj_2')).toBe(null)
    place.leave()
    expect(takeFor(places, 'prj_2')).not.toBe(null)
  })

  test('of keys that nobody has named are one part together, and half of it for one', () => {
    const places = openConcurrencyLimiter({ most: 100 })
    const strange = (keyHash: string): number => {
      for (let n = 0; ; n++)
        try {
          places.take(keyHash)
        } catch {
          return n
        }
    }
    expect(strange('flood')).toBeLessThanOrEqual(50)
    for (let n = 0; n < 200; n++) strange(`another ${n}`)
    expect(places.count()).toBeLessThanOrEqual(81)
    expect(takeFor(places, 'prj_1')).toBe(null) // a stranger too, at its first call
  })

  test('of a key count for its project from its first admission on, also with its other keys', () => {
    const places = openConcurrencyLimiter({ most: 100, mostOfOne: 2 })
    const first = places.take('key 1')
    first.countsFor('prj_1')
    places.take('key 2').countsFor('prj_1')
    expect(() => places.take('key 1')).toThrow('overloaded')
    expect(() => places.take('key 2')).toThrow('overloaded')
    first.leave()
    places.take('key 2')
    expect(() => places.take('key 1')).toThrow('overloaded')
  })

  test('add up, whatever comes and goes in whatever order', () => {
    const step = fc.record({
      key: fc.nat(5),
      what: fc.constantFrom('take', 'name', 'leave', 'leave twice'),
      of: fc.nat(9),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const places = openConcurrencyLimiter({ most: 8 })
        const open: { place: Place; key: number }[] = []
        for (const { key, what, of } of steps) {
          const one = open[of % Math.max(1, open.length)]
          if (what === 'take')
            try {
              open.push({ place: places.take(`key ${key}`), key })
            } catch {
              expect(open.length).toBeGreaterThan(0)
            }
          else if (one && what === 'name') one.place.countsFor(`prj_${one.key % 2}`)
          else if (one) {
            one.place.leave()
            if (what === 'leave twice') one.place.leave()
            open.splice(open.indexOf(one), 1)
          }
          expect(places.count()).toBe(open.length)
        }
        for (const { place } of open) place.leave()
        expect(places.count()).toBe(0)
        expect(fill(places, 'prj_fresh')).toHaveLength(7) // nothing of what has gone is left behind
      }),
    )
  })
})
