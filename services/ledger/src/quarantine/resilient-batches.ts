import { setTimeout as delay } from 'node:timers/promises'
import { classify, isUnusable, lockedOut, ranOutOfTime } from '../admissions/classify-error.ts'
import type { Deps } from '../deps.ts'
import type { Group, Remembered } from './quarantine.ts'
import type { Database, Sql } from '@gateway/database/client'

// Decides items in batches so that neither a short outage nor one bad item harms the rest. Admissions, nodes and starts
// share it.
//   R1  A transient error leaves open whether the batch was written. Items are idempotent by their id, so all of them
//       are retried until each is past its deadline.
//   R2  A batch that timed out on a lock goes back to the queue. Its items pass up many batches before one waits for a
//       lock again.
//   R3  A batch that exceeds the statement time is repeated once. The second time it is split, and its parts have a
//       short timeout.
//   R4  After any other error the batch is split until the items that Postgres refuses stand alone. Those are
//       quarantined: they join no batch, are retried alone, and are answered from memory in between (A1 to A6 of
//       quarantine.ts).
//   R5  If all that is left is from one project, it is split on a connection that no batch waits for, where its user
//       allows that.

/** An item that waits for a batch. */
export interface BatchEntry {
  /** Batches that have passed it over. */
  deferrals: number
  /** Whether a batch with it failed in a way that leaves open whether it was written. */
  outcomeUnknown: boolean
  /** Project of what it closes, once looked up; null if there is none. */
  project?: string | null
}

/** How to run a batch. */
export interface BatchMode<Entry> {
  /** Wait for rows that others have locked. */
  waitForLocks: boolean
  /** Give each statement a short timeout. */
  shortTimeout: boolean
  /** Use a connection that no batch waits for. */
  outside: boolean
  /** Takes an entry that the batch did not decide. */
  passOver: (entry: Entry) => void
  /**
   * To be called once the batch is written, before its entries are answered.
   * @param wroteShared whether that includes what the entries of a group share (A4 of quarantine.ts)
   */
  onWritten: (wroteShared: boolean) => void
}

/** What a user of resilient batches states about its own items. */
export interface BatchUser<Entry> {
  /** Deferrals after which a batch waits for locks. */
  waitForLocksAfter: number
  /** Wakes the queue after R5. If absent, R5 does not apply. */
  wakeAfterOutside?: () => void
  /** Id under which an entry is quarantined. */
  idOf: (entry: Entry) => string
  /** Groups it belongs to, its own first. While another one of them is quarantined, it is not retried. */
  groupsOf: (entry: Entry) => readonly Group[]
  /** Entries of one key stay in one part for as long as there are others. */
  partOf: (entry: Entry) => string
  /** Looks up missing projects. Those it cannot find stay unknown. Must not reject. */
  identify: (entries: readonly Entry[]) => Promise<void>
  /** Decides a batch and answers its entries. Rejects with the error of Postgres. */
  run: (entries: Entry[], mode: BatchMode<Entry>) => Promise<void>
  /** Puts an entry back into the queue. */
  putBack: (entry: Entry) => void
  /** Answers an entry undecided. */
  drop: (entry: Entry) => void
  /** Answers an entry that is quarantined. Must not reject. */
  answerFromMemory: (entry: Entry, remembered: Remembered) => Promise<void>
  /** Reports an entry that Postgres refused. */
  report: (entry: Entry, error: unknown) => void
}

export interface ResilientBatches<Entry> {
  /** Retries a quarantined entry alone if it is due, else answers it. Returns false for any other entry. */
  take(entry: Entry): boolean
  /** Runs a batch, without what has been quarantined since it was gathered. Never rejects. */
  run(entries: Entry[]): Promise<void>
  /** Resolves when nothing is retried or answered outside of batches. */
  idle(): Promise<void>
}

/** Batches that an entry of R2 passes up. */
const DEFERRALS_AFTER_LOCKOUT = -20
const RETRY_MS = 50
const NO_ID = ''

type Apart = Pick<BatchMode<never>, 'shortTimeout' | 'outside'>
type How = Apart & Pick<BatchMode<never>, 'waitForLocks'>

export function openResilientBatches<Entry extends BatchEntry>(
  { quarantine, metrics }: Pick<Deps, 'quarantine'> & { metrics: Pick<Deps['metrics'], 'lockedOut'> },
  user: BatchUser<Entry>,
): ResilientBatches<Entry> {
  const { idOf, groupsOf, drop } = user
  /** Work that no batch waits for. */
  const underWay = new Set<Promise<void>>()

  async function attempt(entries: Entry[], { shortTimeout, outside }: Apart): Promise<void> {
    const how = {
      shortTimeout,
      outside,
      waitForLocks: entries.some(({ deferrals }) => deferrals >= user.waitForLocksAfter),
    }
    try {
      await user.run(entries, { ...how, passOver: user.putBack, onWritten: () => {} })
    } catch (error) {
      await recover(entries, error, how)
    }
  }

  async function recover(
    entries: Entry[],
    error: unknown,
    { waitForLocks, shortTimeout, outside }: How,
  ): Promise<void> {
    if (lockedOut(error)) {
      if (!waitForLocks) metrics.lockedOut() // it does not wait for wallets
      for (const entry of entries) {
        entry.deferrals = DEFERRALS_AFTER_LOCKOUT // R2
        user.putBack(entry)
      }
    } else if (mayPass(entries, error, shortTimeout)) {
      for (const entry of entries) {
        entry.outcomeUnknown ||= !ranOutOfTime(error) // R1
        user.putBack(entry)
      }
      await delay(RETRY_MS)
    } else if (entries.length > 1) await split(entries, { shortTimeout: shortTimeout || ranOutOfTime(error), outside })
    else await refused(entries[0]!, error)
  }

  /** R1, R3 */
  function mayPass(entries: Entry[], error: unknown, shortTimeout: boolean): boolean {
    if (!ranOutOfTime(error)) return classify(error) === 'transient'
    return !shortTimeout && !quarantine.ranOutOfTime(entries.map(idOf))
  }

  /** R4 */
  async function split(entries: Entry[], how: Apart): Promise<void> {
    await user.identify(entries)
    const left = leaveOut(entries)
    const wake = user.wakeAfterOutside
    if (wake && !how.outside && isOfOneProject(left))
      return track(split(left, { outside: true, shortTimeout: true }).then(wake)) // R5
    for (const part of left.length < entries.length ? [left] : partsOf(left)) {
      const together = leaveOut(part) // without those found in the part before
      if (together.length > 0) await attempt(together, how)
    }
  }

  function isOfOneProject([first, ...rest]: readonly Entry[]): boolean {
    return typeof first?.project === 'string' && rest.every(({ project }) => project === first.project)
  }

  function partsOf(entries: readonly Entry[]): Entry[][] {
    const groups = [...Map.groupBy(entries, user.partOf).values()]
    return groups.length === 1 ? bisect(entries) : bisect(groups).map((half) => half.flat())
  }

  async function retryAlone(entry: Entry): Promise<void> {
    const onWritten = (wroteShared: boolean) => quarantine.decided(idOf(entry), wroteShared)
    try {
      await user.run([entry], { waitForLocks: true, shortTimeout: true, outside: true, passOver: drop, onWritten })
    } catch (error) {
      if (ranOutOfTime(error) || (!lockedOut(error) && classify(error) === 'final')) return refused(entry, error)
      entry.outcomeUnknown ||= !lockedOut(error) // R1
      drop(entry)
    }
  }

  async function refused(entry: Entry, error: unknown): Promise<void> {
    user.report(entry, error)
    await user.identify([entry])
    quarantine.refused(idOf(entry), isUnusable(error) ? null : (groupsOf(entry)[0] ?? null), error)
    leaveOut([entry]) // no batch will take it again
  }

  function rememberedOf(entry: Entry): Remembered | null {
    const groups = groupsOf(entry)
    const remembered = quarantine.find(idOf(entry), groups)
    if (remembered !== null && groups[0] !== undefined) quarantine.belongs(idOf(entry), groups[0])
    return remembered
  }

  /** Answers the entries that are quarantined, and returns the others. */
  function leaveOut(entries: readonly Entry[]): Entry[] {
    return entries.filter((entry) => {
      const remembered = rememberedOf(entry)
      if (remembered !== null) track(user.answerFromMemory(entry, remembered))
      return remembered === null
    })
  }

  function isDue(entry: Entry): boolean {
    const [own, ...others] = groupsOf(entry)
    if (quarantine.find(NO_ID, others) !== null) return false
    return quarantine.mayTry(idOf(entry), own === undefined ? [] : [own])
  }

  function track(work: Promise<void>): void {
    underWay.add(work)
    void work.finally(() => underWay.delete(work))
  }

  return {
    take(entry) {
      const remembered = rememberedOf(entry)
      if (remembered === null) return false
      track(isDue(entry) ? retryAlone(entry) : user.answerFromMemory(entry, remembered))
      return true
    },
    async run(entries) {
      const together = leaveOut(entries)
      if (together.length > 0) await attempt(together, { shortTimeout: false, outside: false })
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

/** Splits a list into two halves: each bad item is found in a few times log n batches. */
export function bisect<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}

/** Many times what a batch takes; an item that takes longer than this alone is not normal. */
const LIMIT_MS = 500

/** Runs a transaction whose statements have a short timeout, so that a hanging one hangs briefly. */
export function withShortTimeout<T>(
  { sql }: Pick<Database, 'sql'>,
  work: (transaction: Sql) => Promise<T>,
): Promise<T> {
  return sql.transaction(async (transaction) => {
    await transaction.query(`SET LOCAL statement_timeout = ${LIMIT_MS}`)
    return work(transaction)
  })
}
