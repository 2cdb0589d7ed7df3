import { classify, lockedOut } from './classify-error.ts'
import { admitOutcome, closingOutcome, projectIn, type Decided } from './outcome-of-row.ts'
import type { AdmissionRow, BatchRows, ClosingRow, RunBatch } from './run-batch.ts'
import { openKnownProjects } from './project-cache.ts'
import {
  callerOf,
  WaitingItems,
  type AdmissionItem,
  type Batch,
  type ClosingItem,
  type Outcome,
  type Waiting,
} from './waiting-items.ts'

// One batch in flight per batcher: while a batch is in Postgres the next one gathers, and goes when it returns.
//   L1  No timer: a lone item goes at once, a crowd shares a transaction.
//   L2  What a batch passed over goes with the next one. A wallet that another replica holds: after `patience` times the batch
//       waits for it. A copy under the idempotency key of a call that was just admitted: the next batch knows that call.
//   L3  A transient error leaves open whether the batch was written. Every item is idempotent by its id, so it is asked again.
//   L4  Any other error: the items run one by one, and the one that fails is set aside with an alarm.
//   L5  An item past its time is dropped undecided. Whoever asked releases it: only the asker knows whether another replica was
//       asked too, and answered.
//   L6  Back-pressure refuses admissions only.

export interface BatcherLimits {
  admissionBatcher: number
  batchItems: number
  batchBytes: number
  /** Admissions that may wait; one more is refused as overloaded. */
  waitingAdmissions: number
}

interface Deps {
  runBatch: RunBatch
  /** Finds the saved answers of replays, after the batch. */
  finishReplays: (decided: Decided[]) => Promise<void>
  limits: BatcherLimits
  now: () => number
  observe: {
    batch(items: number, ms: number): void
    setAside(item: { id: string }, error: unknown): void
    settledMore(excessMicro: number): void
    fenced(): void
  }
}

export interface AdmissionBatcher {
  submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome>
  /** Tells whose a run is, so that its admissions take their turns with the project from the first on. */
  introduceExecution(execution: string, project: string): void
  waiting(): { admissions: number; all: number; inFlight: number }
  /** Waits until nothing is left to decide. */
  drain(): Promise<void>
}

const PATIENCE = 3
const IMPATIENCE = 20
const RETRY_MS = 50
const ADMISSIONS_AT_LEAST = 128

export function openAdmissionBatcher({ runBatch, finishReplays, limits, now, observe }: Deps): AdmissionBatcher {
  const waiting = new WaitingItems()
  const known = openKnownProjects() // only decides whose turn it is
  const idle: (() => void)[] = []
  let inFlight = 0
  let scheduled = false

  function submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome> {
    if (isAdmission(item) && !hasRoom(item)) return Promise.resolve({ kind: 'undecided', why: 'overloaded' }) // L6
    return new Promise((answer) => {
      add({ item, dropAtMs: now() + budgetMs, deferrals: 0, ambiguous: false, answer })
      schedule()
    })
  }

  /** A quarter of the room is kept for callers whose project is known. */
  function hasRoom(item: AdmissionItem): boolean {
    if (waiting.admissions >= limits.waitingAdmissions) return false
    return known.projectOf(item) !== null || waiting.strangers < limits.waitingAdmissions * 0.75
  }

  function add(one: Waiting): void {
    if (isAdmission(one.item)) waiting.addAdmission(known.projectOf(one.item), one as Waiting<AdmissionItem>)
    else waiting.addClosing(one as Waiting<ClosingItem>)
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      while (inFlight < limits.admissionBatcher && waiting.size > 0) {
        inFlight++
        void send().finally(() => {
          inFlight--
          if (waiting.size > 0) schedule()
          else if (inFlight === 0) for (const resolve of idle.splice(0)) resolve()
        })
      }
    })
  }

  async function send(): Promise<void> {
    const batch = waiting.take({
      items: limits.batchItems,
      bytes: limits.batchBytes,
      admissionsAtLeast: ADMISSIONS_AT_LEAST,
    })
    batch.admissions = batch.admissions.filter(inTime)
    batch.closings = batch.closings.filter(inTime)
    if (batch.admissions.length + batch.closings.length > 0) await decide(batch)
  }

  function inTime(one: Waiting): boolean {
    if (now() < one.dropAtMs) return true
    one.answer({ kind: 'undecided', why: one.ambiguous ? 'unknown' : 'unavailable' }) // L5
    return false
  }

  async function decide(batch: Batch): Promise<void> {
    const startMs = now()
    try {
      const patient = [...batch.admissions, ...batch.closings].some((one) => one.deferrals >= PATIENCE) // L2
      const rows = await runBatch(batch, patient)
      observe.batch(batch.admissions.length + batch.closings.length, now() - startMs)
      answerAll(batch, rows)
    } catch (error) {
      const all = [...batch.admissions, ...batch.closings]
      if (lockedOut(error)) {
        for (const one of all) {
          one.deferrals = -IMPATIENCE // the others go on without that wallet for a while
          add(one)
        }
      } else if (classify(error) === 'transient') {
        for (const one of all) {
          one.ambiguous = true // L3
          add(one)
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      } else if (all.length > 1) {
        for (const one of batch.closings) await decide({ admissions: [], closings: [one] }) // L4
        for (const one of batch.admissions) await decide({ admissions: [one], closings: [] })
      } else {
        observe.setAside(all[0]!.item, error)
        all[0]!.answer({ kind: 'undecided', why: all[0]!.ambiguous ? 'unknown' : 'unavailable' })
      }
    }
  }

  /** The batch is written: what fails from here on is set aside alone, and never asked again. */
  function answerAll(batch: Batch, rows: BatchRows): void {
    const guarded = (one: Waiting, answer: () => void) => {
      try {
        answer()
      } catch (error) {
        observe.setAside(one.item, error)
        one.answer({ kind: 'undecided', why: 'unknown' })
      }
    }
    for (const row of rows.closings) {
      const one = batch.closings[row[0] - 1]!
      guarded(one, () => answerClosing(one, row))
    }
    const replays: Decided[] = []
    for (const row of rows.admissions) {
      const one = batch.admissions[row[0] - 1]!
      guarded(one, () => answerAdmission(one, row, rows, replays))
    }
    if (replays.length > 0) void finishReplays(replays) // outside the batcher: reading answers keeps nobody waiting
  }

  function answerClosing(one: Waiting<ClosingItem>, row: ClosingRow): void {
    if (row[1] === 'deferred') return again(one)
    if (row[3] > 0) observe.settledMore(row[3])
    if (row[1] === 'fenced') observe.fenced()
    one.answer(closingOutcome(row))
  }

  function answerAdmission(one: Waiting<AdmissionItem>, row: AdmissionRow, rows: BatchRows, replays: Decided[]): void {
    const project = projectIn(row)
    if (project !== null && known.add(one.item, project)) waiting.introduce(callerOf(one.item), project)
    if (row[1] === 'deferred') return again(one)
    if (row[1] === 'copy') return add(one) // L2
    const outcome = admitOutcome(row, one.item, rows.products)
    if (outcome.kind === 'replay') replays.push({ waiting: one, row })
    else one.answer(outcome)
  }

  function again(one: Waiting): void {
    one.deferrals++
    add(one)
  }

  return {
    submit,
    introduceExecution(execution, project) {
      if (known.addExecution(execution, project)) waiting.introduce(execution, project)
    },
    waiting: () => ({ admissions: waiting.admissions, all: waiting.size, inFlight }),
    drain: () =>
      inFlight === 0 && waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)),
  }
}

function isAdmission(item: AdmissionItem | ClosingItem): item is AdmissionItem {
  return item.op === 'admit' || item.op === 'admit-node'
}
