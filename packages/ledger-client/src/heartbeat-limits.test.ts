import { heartbeat } from '@gateway/ledger-protocol/ledger-reads'
import { expect, test } from 'vitest'
import { HEARTBEAT_LIMITS, MISSED_HEARTBEATS } from './instance.ts'

test.for(Object.entries(HEARTBEAT_LIMITS))('the ledger accepts heartbeats at the configurable %s', ([, ms]) => {
  const asked = { instance: 'ins_1', service: 'gateway', deadAfterMs: MISSED_HEARTBEATS * ms }
  expect(heartbeat.safeParse(asked).success).toBe(true)
})
