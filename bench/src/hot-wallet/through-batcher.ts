import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { Database } from '@gateway/database/client'
import { settlement } from './items.ts'
import {
  openAdmissionBatcher,
  openQuarantine,
  openReceipts,
  type AdmissionBatcher,
  type Outcome,
} from '../stack/ledger-parts.ts'

/** The defaults of services/ledger/src/config.ts. */
const LIMITS = { batchesInFlight: 1, batchItems: 512, batchBytes: 1024 * 1024, waitingAdmissions: 10_000 }
const BUDGET_MS = 60_000

export interface BatcherUnderTest {
  /** Admits, and records the reservation for `settleAll`. Throws unless the outcome is the expected one. */
  admit(item: AdmitItem): Promise<void>
  refuse(item: AdmitItem): Promise<void>
  admitAndSettle(item: AdmitItem): Promise<void>
  /** Settles all open reservations. Returns their number. */
  settleAll(): Promise<number>
  /** Average number of items per batch since the last call. */
  batchSize(): number
}

/** The ledger's batchers on the real batch function, as the ledger builds them, without its HTTP server. */
export async function batcherUnderTest(database: Database, now: () => number): Promise<BatcherUnderTest> {
  const receipts = await openReceipts(database)
  const open: string[] = []
  let [batches, items] = [0, 0]
  const admissionBatcher: AdmissionBatcher = openAdmissionBatcher(
    {
      admissions: database,
      reads: database,
      locking: database,
      receipts,
      quarantine: openQuarantine({ now }),
      now,
      metrics: {
        batch: (count) => {
          batches++
          items += count
        },
        lockedOut: () => {},
        keepFailed: () => {},
        quarantined: (item, error) => {
          throw new Error(`${item.id} was quarantined`, { cause: error })
        },
        settledMore: () => {},
        fenced: () => {},
        restored: () => {},
        restoreFailed: () => {},
        answersLost: () => {},
      },
    },
    LIMITS,
  )

  return {
    async admit(item) {
      expectKind(await admissionBatcher.submit(item, BUDGET_MS), 'admitted')
      open.push(item.id)
    },
    async refuse(item) {
      const outcome = await admissionBatcher.submit(item, BUDGET_MS)
      if (outcome.kind !== 'refused' || outcome.code !== 'insufficient_budget') throw unexpected(outcome)
    },
    async admitAndSettle(item) {
      expectKind(await admissionBatcher.submit(item, BUDGET_MS), 'admitted')
      expectKind(await admissionBatcher.submit(settlement(item.id), BUDGET_MS), 'settled')
    },
    async settleAll() {
      const ids = open.splice(0)
      for (const outcome of await Promise.all(ids.map((id) => admissionBatcher.submit(settlement(id), BUDGET_MS))))
        expectKind(outcome, 'settled')
      return ids.length
    },
    batchSize() {
      const size = items / batches
      ;[batches, items] = [0, 0]
      return size
    },
  }
}

function expectKind(outcome: Outcome, kind: Outcome['kind']): void {
  if (outcome.kind !== kind) throw unexpected(outcome)
}

function unexpected(outcome: Outcome): Error {
  return new Error(`an unexpected outcome: ${JSON.stringify(outcome)}`)
}
