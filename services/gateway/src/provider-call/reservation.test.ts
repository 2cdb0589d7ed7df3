import { releaseItem } from '@gateway/ledger-protocol/ledger-items'
import { expect, test } from 'vitest'
import { openReservation, release } from './call-provider.ts'

test.for([
  ['empty', ''],
  ['short', 'the provider failed'],
  ['too long', 'x'.repeat(1_000)],
] as const)(
  'releases a reservation with a reason that the ledger accepts if the error message is %s',
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
    const place = { headers: {}, undo() {}, settle() {} }
    await release(deps, openReservation({ reservation: 'inv_1', invocation: 'inv_1', place }, false), reason)
    const timing = { firstTokenMs: null, tries: [] }
    expect(released).toEqual([{ op: 'release', id: 'inv_1', reason: reason.slice(0, 200) || 'failed', timing }])
  },
)
