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
] as const)('of the %s: a batch that stands for ten seconds is not ready, for a minute not live', (name, items) => {
  const at = (inFlightMs: number) => batchers({ inFlightMs }, name)
  expect(batchesAreTaken(at(10_000))()).toBe(null)
  expect(batchesAreTaken(at(10_001))()).toBe(`a batch of ${items} has been under way for more than 10 seconds`)
  expect(batchesAreNotHung(at(60_000))()).toBe(null)
  expect(batchesAreNotHung(at(60_001))()).toBe(`a batch of ${items} has been under way for more than 60 seconds`)
})

test('what no batch takes for ten seconds is not ready, for a minute not live', () => {
  expect(batchesAreTaken(batchers({ oldestMs: 10_000 }))()).toBe(null)
  expect(batchesAreTaken(batchers({ oldestMs: 10_001 }))()).toMatch('oldest of the waiting items')
  expect(batchesAreNotHung(batchers({ oldestMs: 60_000 }))()).toBe(null)
  expect(batchesAreNotHung(batchers({ oldestMs: 60_001 }))()).toMatch('more than 60 seconds')
})
