import { expect, test } from 'vitest'
import { batchesAreNotHung, batchesAreTaken } from './health.ts'

type Batchers = Parameters<typeof batchesAreTaken>[0]
type Ages = Partial<{ oldestMs: number; inFlightMs: number }>

const batcher = (ages: Ages = {}) => ({
  waiting: () => ({ all: 1, admissions: 1, inFlight: 1, oldestMs: 0, inFlightMs: 0, ...ages }),
})

function batchers(ages: Ages, name: keyof Batchers = 'admissionBatcher'): Batchers {
  const all = { admissionBatcher: batcher(), nodeBatcher: batcher(), startBatcher: batcher() }
  return { ...all, [name]: batcher(ages) } as unknown as Batchers
}

test.each([
  ['admissionBatcher', 'items'],
  ['nodeBatcher', 'nodes'],
  ['startBatcher', 'starts'],
] as const)(
  'a batch of the %s in flight for over ten seconds makes the ledger not ready, for over a minute not live',
  (name, items) => {
    const at = (inFlightMs: number) => batchers({ inFlightMs }, name)
    expect(batchesAreTaken(at(10_000))()).toBe(null)
    expect(batchesAreTaken(at(10_001))()).toBe(`a batch of ${items} has been under way for more than 10 seconds`)
    expect(batchesAreNotHung(at(60_000))()).toBe(null)
    expect(batchesAreNotHung(at(60_001))()).toBe(`a batch of ${items} has been under way for more than 60 seconds`)
  },
)

test('an item that no batch takes for over ten seconds makes the ledger not ready, for over a minute not live', () => {
  expect(batchesAreTaken(batchers({ oldestMs: 10_000 }))()).toBe(null)
  expect(batchesAreTaken(batchers({ oldestMs: 10_001 }))()).toMatch('oldest of the waiting items')
  expect(batchesAreNotHung(batchers({ oldestMs: 60_000 }))()).toBe(null)
  expect(batchesAreNotHung(batchers({ oldestMs: 60_001 }))()).toMatch('more than 60 seconds')
})
