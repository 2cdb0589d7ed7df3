import type { HealthCheck } from '@gateway/service-kit/process/open-service'
import { classify } from './admissions/classify-error.ts'
import { runBatch } from './admissions/run-batch.ts'
import type { Deps } from './deps.ts'

// Health checks of the ledger.
//   H1  A replica is ready while it reaches Postgres and its batches return. Otherwise it gets no traffic, and other
//       replicas do.
//   H2  A replica is live unless a batch hangs. A batch has a timeout of seconds, so one in flight for a minute hangs
//       forever, and only a restart helps. While Postgres is down every batch fails in time, so no replica is
//       restarted.

type Batchers = Pick<Deps, 'admissionBatcher' | 'nodeBatcher' | 'startBatcher'>

const NOT_READY_MS = 10_000
const NOT_LIVE_MS = 60_000

/** Checks that waiting items are taken by a batch and that batches return (H1). */
export function batchesAreTaken(batchers: Batchers): HealthCheck {
  return () => whatStalls(batchers, NOT_READY_MS)
}

/** H2 */
export function batchesAreNotHung(batchers: Batchers): HealthCheck {
  return () => whatStalls(batchers, NOT_LIVE_MS)
}

function whatStalls({ admissionBatcher, nodeBatcher, startBatcher }: Batchers, limitMs: number): string | null {
  for (const [items, { waiting }] of Object.entries({
    items: admissionBatcher,
    nodes: nodeBatcher,
    starts: startBatcher,
  })) {
    const { oldestMs, inFlightMs } = waiting()
    const seconds = limitMs / 1_000
    if (inFlightMs > limitMs) return `a batch of ${items} has been under way for more than ${seconds} seconds`
    if (oldestMs > limitMs)
      return `no batch has taken the oldest of the waiting ${items} for more than ${seconds} seconds`
  }
  return null
}

/** Checks that Postgres responds and has the function that decides, by running an empty batch each time. */
export function booksDecide({ reads }: Pick<Deps, 'reads'>): HealthCheck {
  return async () => {
    try {
      await runBatch(reads.sql, { admissions: [], closings: [] }, false)
      return null
    } catch (error) {
      return classify(error) === 'final' ? 'refuses a batch of nothing: is the database migrated?' : 'does not answer'
    }
  }
}
