import { releaseItem } from '@gateway/ledger-protocol/ledger-items'
import { expect, test } from 'vitest'
import { openReservation, release } from './reservation.ts'

test.for([
  ['none', ''],
  ['a short one', 'the provider failed'],
  ['a long one', 'x'.repeat(1_000)],
] as const)(
  'a reservation is released for a reason that the ledger takes, no matter what the error said: %s',
  async ([, reason]) => {
    const released: unknown[] = []
    const deps = {
      ledger: {
        release: async (item: object) => {
          released.push(releaseItem.parse({ op: 'release', ...item }))
          return { kind: 'released' as const }
        },
      },
      openCalls: { track: async <T>(work: Promise<T>) => work },
      notifier: { notify: () => {} },
      metrics: { closed: () => {} },
    } as unknown as Parameters<typeof release>[0]
    await release(deps, openReservation({ reservation: 'inv_1', invocation: 'inv_1' }, false), reason)
    expect(released).toEqual([{ op: 'release', id: 'inv_1', reason: reason.slice(0, 200) || 'failed' }])
  },
)
