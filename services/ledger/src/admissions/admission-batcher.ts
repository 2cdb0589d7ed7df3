import { setTimeout as delay } from 'node:timers/promises'
import { openBatcher } from '@gateway/async/batcher'
import { openSweep } from '@gateway/async/sweep'
import { trace } from '@opentelemetry/api'
import type { AdmissionBatcher, Deps } from '../deps.ts'
import { withBatchSpan } from '../spans.ts'
import { classify, lockedOut } from './classify-error.ts'
import { finishReplays } from './finish-replays.ts'
import { admitOutcome, closingOutcome, projectIn, type Decided } from './outcome-of-row.ts'
import { openProjectCache } from './project-cache.ts'
import { runBatch, type AdmissionRow, type BatchRows, type ClosingRow } from './run-batch.ts'
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
//   L4  Any other error: the items run one by one, and the one that fails is set aside with an alarm.
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

type AdmissionDeps = Pick<Deps, 'admissions' | 'reads' | 'now'> & {
  metrics: Pick<Deps['metrics'], 'batch' | 'setAside' | 'settledMore' | 'fenced' | 'answersLost'>
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
  const { now, metrics } = deps
  const waiting = new WaitingItems({ now, drop })
  const projects = openProjectCache() // only decides whose turn it is
  const batcher = openBatcher<Batch>({ concurrency: limits.batchesInFlight, take, run: send, now })
  const sweep = openSweep({ everyMs: SWEEP_MS, sweep: dropLate })

  function submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome> {
    if (isAdmission(item) && !hasRoom(item)) return Promise.resolve({ kind: 'undecided', why: 'overloaded' }) // L6
    return new Promise((answer) => {
      const [span, nowMs] = [trace.getActiveSpan(), now()]
      add({ item, span, sinceMs: nowMs, dropAtMs: nowMs + budgetMs, deferrals: 0, ambiguous: false, answer })
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
    const batch = { admissions: admissions.filter(isInTime), closings: closings.filter(isInTime) }
    if (batch.admissions.length + batch.closings.length > 0) await decide(batch)
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

  async function decide(batch: Batch): Promise<void> {
    const startMs = now()
    const all = [...batch.admissions, ...batch.closings]
    try {
      const patient = all.some(({ deferrals }) => deferrals >= WAIT_AFTER) // L2
      const rows = await withBatchSpan(all, () => run(deps.admissions, batch, patient))
      metrics.batch(all.length, now() - startMs)
      if (rows.answersLost > 0) metrics.answersLost(rows.answersLost)
      answerAll(batch, rows)
    } catch (error) {
      await recover(batch, error)
    }
  }

  async function recover(batch: Batch, error: unknown): Promise<void> {
    const all = [...batch.admissions, ...batch.closings]
    if (lockedOut(error)) {
      for (const entry of all) {
        entry.deferrals = DEFERRALS_AFTER_LOCKOUT // the others go on without that wallet for a while
        add(entry)
      }
    } else if (classify(error) === 'transient') {
      for (const entry of all) {
        entry.ambiguous = true // L3
        add(entry)
      }
      await delay(RETRY_MS)
    } else if (all.length > 1) {
      for (const entry of batch.closings) await decide({ admissions: [], closings: [entry] }) // L4
      for (const entry of batch.admissions) await decide({ admissions: [entry], closings: [] })
    } else {
      const { item, ambiguous, answer } = all[0]!
      metrics.setAside(item, error)
      answer({ kind: 'undecided', why: ambiguous ? 'unknown' : 'unavailable' })
    }
  }

  /** The batch is written: what fails from here on is set aside alone, and never asked again. */
  function answerAll(batch: Batch, rows: BatchRows): void {
    const guarded = ({ item, answer }: Waiting, work: () => void) => {
      try {
        work()
      } catch (error) {
        metrics.setAside(item, error)
        answer({ kind: 'undecided', why: 'unknown' })
      }
    }
    for (const row of rows.closings) {
      const entry = batch.closings[row[0] - 1]!
      guarded(entry, () => answerClosing(entry, row))
    }
    const replays: Decided[] = []
    for (const row of rows.admissions) {
      const entry = batch.admissions[row[0] - 1]!
      guarded(entry, () => answerAdmission(entry, row, rows, replays))
    }
    if (replays.length > 0) void finishReplays(deps, replays) // outside the batch: reading answers keeps nobody waiting
  }

  function answerClosing(entry: Waiting<ClosingItem>, row: ClosingRow): void {
    if (row[1] === 'deferred') return again(entry)
    if (row[3] > 0) metrics.settledMore(row[3])
    if (row[1] === 'fenced') metrics.fenced()
    entry.answer(closingOutcome(row))
  }

  function answerAdmission(
    entry: Waiting<AdmissionItem>,
    row: AdmissionRow,
    rows: BatchRows,
    replays: Decided[],
  ): void {
    const project = projectIn(row)
    if (project !== null && projects.add(entry.item, project)) waiting.introduce(callerOf(entry.item), project)
    if (row[1] === 'deferred') return again(entry)
    if (row[1] === 'copy') return add(entry) // L2
    const outcome = admitOutcome(row, entry.item, rows.products)
    if (outcome.kind === 'replay') replays.push({ waiting: entry, row })
    else entry.answer(outcome)
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
    drain: batcher.idle,
  }
}
