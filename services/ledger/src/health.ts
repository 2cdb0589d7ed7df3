import type { HealthCheck } from '@gateway/service-kit/process/health'
import { classify } from './admissions/classify-error.ts'
import { runBatch } from './admissions/run-batch.ts'
import type { Deps } from './deps.ts'

// What the ledger says of itself.
//   H1  Ready is who decides: who reaches Postgres and whose batches come back. Who can't is sent nothing, and others are.
//   H2  Live is who may still decide. A batch has a time limit of seconds, so one that is under way for a minute hangs for
//       ever, and only a new process continues. While Postgres is away every batch fails in time, and no one is restarted.

type Batchers = Pick<Deps, 'admissionBatcher' | 'nodeBatcher' | 'startBatcher'>

const NOT_READY_MS = 10_000
const NOT_LIVE_MS = 60_000

/** Whether what waits is taken by a batch, and whether what a batch has taken comes back (H1). */
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

/** Whether Postgres answers, and has the function that decides: a batch of nothing is decided at each look. */
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
