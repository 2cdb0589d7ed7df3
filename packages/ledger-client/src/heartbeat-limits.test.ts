import { heartbeat } from '@gateway/ledger-protocol/ledger-reads'
import { expect, test } from 'vitest'
import { HEARTBEAT_LIMITS, MISSED_HEARTBEATS } from './instance.ts'

test.for(Object.entries(HEARTBEAT_LIMITS))(
  'the ledger takes the heartbeats of the %s that may be configured',
  ([, ms]) => {
    const asked = { instance: 'ins_1', service: 'gateway', deadAfterMs: MISSED_HEARTBEATS * ms }
    expect(heartbeat.safeParse(asked).success).toBe(true)
  },
)
