import { setTimeout as delay } from 'node:timers/promises'
import { openBatcher } from '@gateway/async/batcher'
import { openSweep } from '@gateway/async/sweep'
import { trace } from '@opentelemetry/api'
import type { AdmissionBatcher, Deps } from '../deps.ts'
import { withBatchSpan } from '../spans.ts'
import { inAHurry } from '../set-aside/in-a-hurry.ts'
import { answerBatch } from './answer-batch.ts'
import { classify, lockedOut, ranOutOfTime } from './classify-error.ts'
import { identifyClosings, isOfOneProject, openItemsAside, partsOf } from './items-aside.ts'
import { openProjectCache } from './project-cache.ts'
import { runBatch } from './run-batch.ts'
import {
  callerOf,
  isAdmission,
  WaitingItems,
  type AdmissionItem,
  type Batch,
  type ClosingItem,
  type Outcome,
  type Waiting,
} from './waiting-items.ts'

// So many batches in flight: while they are in Postgres the next one gathers, and goes when one of them returns.
//   L1  No timer: a lone item goes at once, a crowd shares a transaction.
//   L2  What a batch passed over goes with the next one. If another replica has a wallet locked, the batch waits for it
//       after `WAIT_AFTER` deferrals. A copy under the idempotency key of a call that was just admitted needs no
//       waiting: the next batch knows that call.
//   L3  A transient error leaves open whether the batch was written. Every item is idempotent by its id, so it is asked
//       again.
//   L4  Any other error: the batch is taken apart by halves until the items are found that Postgres refuses. These are set
//       aside with an alarm: they are tried alone, and answered at once in between (A1 to A6 of set-aside.ts). So is a
//       batch that runs out of time again, its parts with little time each.
//   L5  An item past its time is dropped undecided, by a timer too: a batch that does not return keeps nobody waiting for
//       longer. Its caller releases it: only they know whether another replica was asked too, and answered.
//   L6  Back-pressure refuses admissions only.

export interface AdmissionLimits {
  batchesInFlight: number
  batchItems: number
  batchBytes: number
  /** Admissions that may wait; one more is refused as overloaded. */
  waitingAdmissions: number
}

type AdmissionDeps = Pick<Deps, 'admissions' | 'reads' | 'setAside' | 'now'> & {
  metrics: Pick<
    Deps['metrics'],
    'batch' | 'lockedOut' | 'setAside' | 'keepFailed' | 'settledMore' | 'fenced' | 'answersLost'
  >
}

interface Apart {
  /** It has little time. */
  hurried: boolean
  /** On a connection that no batch waits for: the rest of a batch goes on without what is of one project. */
  outside: boolean
}

/** How a batch is run. */
interface How extends Apart {
  /** It waits for wallets that others have locked. */
  patient: boolean
}

const WAIT_AFTER = 3
/** How many batches an item goes with before one of them waits for a lock again. */
const DEFERRALS_AFTER_LOCKOUT = -20
const RETRY_MS = 50
const ADMISSIONS_AT_LEAST = 128
/** How late an item past its time may be dropped while no batch takes anything. */
const SWEEP_MS = 250

export function openAdmissionBatcher(
  deps: AdmissionDeps,
  limits: AdmissionLimits,
  run: typeof runBatch = runBatch,
): AdmissionBatcher {
  const { now, metrics, setAside } = deps
  const waiting = new WaitingItems({ now, drop })
  const projects = openProjectCache() // only decides whose turn it is
  const batcher = openBatcher<Batch>({ concurrency: limits.batchesInFlight, take, run: send, now })
  const sweep = openSweep({ everyMs: SWEEP_MS, sweep: dropLate })
  const aside = openItemsAside(deps, { tryAlone, drop })

  function submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome> {
    if (isAdmission(item) && !hasRoom(item)) return Promise.resolve({ kind: 'undecided', why: 'overloaded' }) // L6
    return new Promise((answer) => {
      const [span, nowMs] = [trace.getActiveSpan(), now()]
      const dropAtMs = nowMs + budgetMs
      const entry: Waiting = { item, span, sinceMs: nowMs, dropAtMs, deferrals: 0, ambiguous: false, answer }
      if (isAdmission(item)) entry.project = projects.get(item)
      if (aside.take(entry)) return // L4
      add(entry)
      batcher.wake()
    })
  }

  /** A quarter of the room is kept for callers whose project is known. */
  function hasRoom(item: AdmissionItem): boolean {
    if (waiting.admissions >= limits.waitingAdmissions) return false
    return projects.get(item) !== null || waiting.unidentified < limits.waitingAdmissions * 0.75
  }

  function add(entry: Waiting): void {
    entry.sinceMs = now()
    sweep.arm()
    if (isAdmission(entry.item)) waiting.addAdmission(projects.get(entry.item), entry as Waiting<AdmissionItem>)
    else waiting.addClosing(entry as Waiting<ClosingItem>)
  }

  function take(): Batch | null {
    if (waiting.size === 0) return null
    return waiting.take({ items: limits.batchItems, bytes: limits.batchBytes, admissionsAtLeast: ADMISSIONS_AT_LEAST })
  }

  async function send({ admissions, closings }: Batch): Promise<void> {
    const entries = [...closings, ...admissions].filter(isInTime)
    const together = aside.leaveOut(entries) // a copy of what was refused meanwhile
    if (together.length > 0) await decide(together, { hurried: false, outside: false })
  }

  function isInTime(entry: Waiting): boolean {
    if (now() < entry.dropAtMs) return true
    drop(entry) // L5
    return false
  }

  function drop({ ambiguous, answer }: Waiting): void {
    answer({ kind: 'undecided', why: ambiguous ? 'unknown' : 'unavailable' })
  }

  function dropLate(): boolean {
    waiting.dropLate()
    return waiting.size > 0
  }

  async function decide(entries: Waiting[], { hurried, outside }: Apart): Promise<void> {
    const startMs = now()
    const patient = entries.some(({ deferrals }) => deferrals >= WAIT_AFTER) // L2
    const batch = batchOf(entries)
    try {
      const rows = await withBatchSpan(entries, () =>
        hurried
          ? inAHurry(outside ? deps.reads : deps.admissions, (sql) => run(sql, batch, patient))
          : run(deps.admissions.sql, batch, patient),
      )
      metrics.batch(entries.length, now() - startMs)
      if (rows.answersLost > 0) metrics.answersLost(rows.answersLost)
      answerBatch(deps, batch, rows, { onDeferred: again, onCopy: add, onProject: introduceCaller }) // L2
    } catch (error) {
      await recover(entries, error, { patient, hurried, outside })
    }
  }

  async function recover(entries: Waiting[], error: unknown, { patient, hurried, outside }: How): Promise<void> {
    if (lockedOut(error)) {
      if (!patient) metrics.lockedOut() // it waits for no wallet
      for (const entry of entries) {
        entry.deferrals = DEFERRALS_AFTER_LOCKOUT // the others go on without that wallet for a while
        add(entry)
      }
    } else if (isRepeated(entries, error, hurried)) {
      for (const entry of entries) {
        entry.ambiguous ||= !ranOutOfTime(error) // L3
        add(entry)
      }
      await delay(RETRY_MS)
    } else if (entries.length > 1) await takeApart(entries, { hurried: hurried || ranOutOfTime(error), outside })
    else await refused(entries[0]!, error)
  }

  function isRepeated(entries: Waiting[], error: unknown, hurried: boolean): boolean {
    if (!ranOutOfTime(error)) return classify(error) === 'transient'
    return !hurried && !setAside.ranOutOfTime(entries.map(({ item }) => item.id))
  }

  /** L4 */
  async function takeApart(entries: Waiting[], how: Apart): Promise<void> {
    await identifyClosings(deps, entries)
    const left = aside.leaveOut(entries)
    if (!how.outside && isOfOneProject(left)) return aside.track(takeApart(left, { outside: true, hurried: true }))
    const parts = left.length < entries.length ? [left] : partsOf(left)
    for (const part of parts) {
      const together = aside.leaveOut(part) // of what was found in the part before it
      if (together.length > 0) await decide(together, how)
    }
  }

  /** On a connection that no batch waits for. */
  async function tryAlone(entry: Waiting): Promise<void> {
    const batch = batchOf([entry])
    try {
      const rows = await inAHurry(deps.reads, (sql) => run(sql, batch, true))
      setAside.decided(entry.item.id)
      answerBatch(deps, batch, rows, { onDeferred: drop, onCopy: drop, onProject: introduceCaller })
    } catch (error) {
      if (ranOutOfTime(error) || (!lockedOut(error) && classify(error) === 'final')) return refused(entry, error)
      entry.ambiguous ||= !lockedOut(error) // L3
      drop(entry)
    }
  }

  async function refused(entry: Waiting, error: unknown): Promise<void> {
    metrics.setAside(entry.item, error)
    await identifyClosings(deps, [entry])
    aside.refused(entry, error)
  }

  function introduceCaller(item: AdmissionItem, project: string): void {
    if (projects.add(item, project)) waiting.introduce(callerOf(item), project)
  }

  function again(entry: Waiting): void {
    entry.deferrals++
    add(entry)
  }

  return {
    submit,
    introduceExecution(execution, project) {
      if (projects.addExecution(execution, project)) waiting.introduce(execution, project)
    },
    waiting: () => ({
      admissions: waiting.admissions,
      all: waiting.size,
      oldestMs: waiting.oldestMs,
      ...batcher.underWay(),
    }),
    async drain() {
      await batcher.idle()
      await aside.idle()
    },
  }
}

function batchOf(entries: readonly Waiting[]): Batch {
  return {
    closings: entries.filter((entry): entry is Waiting<ClosingItem> => !isAdmission(entry.item)),
    admissions: entries.filter((entry): entry is Waiting<AdmissionItem> => isAdmission(entry.item)),
  }
}
