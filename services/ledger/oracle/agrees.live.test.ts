import { describe, expect, inject } from 'vitest'
import { liveTest as test } from '@gateway/testbed/live-test'
import { playHistories } from './play-histories.fixture.ts'

// `npm run bench -- histories` plays the same histories for any length of time.

const OPERATIONS = 100_000 * inject('propertyShare')

describe('the SQL decision and the in-memory oracle', () => {
  // spec: can/settlement
  test(
    `agree on each of ${OPERATIONS} random items and on every balance`,
    { timeout: 600_000 },
    async ({ database }) => {
      const { operations, missing } = await playHistories(database, OPERATIONS)
      expect(operations).toBeGreaterThanOrEqual(OPERATIONS)
      expect(missing).toEqual([])
    },
  )
})
