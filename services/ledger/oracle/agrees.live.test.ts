import { describe, expect, inject } from 'vitest'
import { liveTest as test } from '@gateway/testbed/live-test'
import { playHistories } from './play-histories.fixture.ts'

// `npm run bench -- histories` plays the same for as long as you like.

const OPERATIONS = 100_000 * inject('propertyShare')

describe('the decision in SQL and the pure one', () => {
  // spec: can/settlement
  test(
    `agree on every item of ${OPERATIONS} random ones, and on every balance`,
    { timeout: 600_000 },
    async ({ database }) => {
      const { operations, missing } = await playHistories(database, OPERATIONS)
      expect(operations).toBeGreaterThanOrEqual(OPERATIONS)
      expect(missing).toEqual([])
    },
  )
})
