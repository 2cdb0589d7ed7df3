import type { SettleItem } from '@gateway/ledger-protocol/ledger-items'
import { openBatcher, openSweep } from '@gateway/service-kit/async/batcher'
import { trace } from '@opentelemetry/api'
import type { AdmissionBatcher, Deps } from '../deps.ts'
import { type BatchMode, withShortTimeout, openResilientBatches } from '../quarantine/resilient-batches.ts'
import { reportExcesses } from './report-excesses.ts'
import { openKeptItems, projectsOfReservations } from '../quarantine/kept-items.ts'
import type { Group, Remembered } from '../quarantine/quarantine.ts'
import { withBatchSpan } from '../spans.ts'
import {
  type AdmissionItem,
  type Batch,
  callerOf,
  type ClosingItem,
  isAdmission,
  openProjectCache,
  type Outcome,
  type Waiting,
  WaitingItems,
} from './waiting-items.ts'
import { hasReceipt, type Receipt, restoreReservation } from './receipts.ts'
import {
  type AdmissionRow,
  type AdmittedFacts,
  admitOutcome,
  type BatchRows,
  closingOutcome,
  type ClosingRow,
  type Decided,
  projectIn,
  runBatch,
} from './run-batch.ts'

// Decides admissions and closings in batches. While batches are in Postgres, the next one fills, and is sent when one
// of them returns. Errors are handled in resilient-batches.ts.
//   L1  No timer: a single item is sent immediately, many items share a transaction.
//   L2  Items that a batch passed over are sent with the next one. If another replica has a wallet locked, the batch
//       waits for it after `WAIT_AFTER` deferrals. A copy under the idempotency key of a call that was just admitted
//       does not wait for locks: the next batch knows that call.
//   L3  An item past its deadline is dropped undecided, by a timer too, so a batch that hangs delays no caller beyond
//       the deadline. The caller releases the item: only the caller knows whether it also sent it to another replica.
//   L4  Back-pressure refuses admissions only.
//   L5  A settlement whose reservation was lost restores it once, from its receipt, and is sent again (receipts.ts).

export interface AdmissionLimits {
  batchesInFlight: number
  batchItems: number
  batchBytes: number
  /** Maximum number of waiting admissions. Further ones are refused as overloaded. */
  waitingAdmissions: number
}

type AdmissionDeps = Pick<Deps, 'admissions' | 'reads' | 'locking' | 'receipts' | 'quarantine' | 'now'> & {
  metrics: Pick<
    Deps['metrics'],
    | 'batch'
    | 'lockedOut'
    | 'quarantined'
    | 'keepFailed'
    | 'settledMore'
    | 'fenced'
    | 'restored'
    | 'restoreFailed'
    | 'answersLost'
  >
}

const WAIT_AFTER = 3
const ADMISSIONS_AT_LEAST = 128
/** Interval at which items past their deadline are dropped while no batch takes any. */
const SWEEP_MS = 250

export function openAdmissionBatcher(
  deps: AdmissionDeps,
  limits: AdmissionLimits,
  run: typeof runBatch = runBatch,
): AdmissionBatcher {
  const { now, metrics } = deps
  const waiting = new WaitingItems({ now, drop })
  const projects = openProjectCache() // only used to share turns fairly
  const batcher = openBatcher<Batch>({ concurrency: limits.batchesInFlight, take, run: send, now })
  const sweep = openSweep({ everyMs: SWEEP_MS, sweep: dropLate })
  const keep = openKeptItems(deps)
  const batches = openResilientBatches<Waiting>(deps, {
    waitForLocksAfter: WAIT_AFTER,
    wakeAfterOutside: () => batcher.wake(),
    idOf: ({ item }) => item.id,
    groupsOf,
    partOf: ({ project }) => project ?? '',
    identify: (entries) => identifyClosings(deps, entries),
    run: decide,
    putBack: add,
    drop,
    answerFromMemory,
    report: ({ item }, error) => metrics.quarantined(item, error),
  })

  function submit(item: AdmissionItem | ClosingItem, budgetMs: number): Promise<Outcome> {
    if (isAdmission(item) && !hasRoom(item)) return Promise.resolve({ kind: 'undecided', why: 'overloaded' }) // L4
    return new Promise((answer) => {
      const [span, nowMs] = [trace.getActiveSpan(), now()]
      const dropAtMs = nowMs + budgetMs
      const entry: Waiting = { item, span, sinceMs: nowMs, dropAtMs, deferrals: 0, outcomeUnknown: false, answer }
      if (isAdmission(item)) entry.project = projects.get(item)
      if (batches.take(entry)) return
      add(entry)
      batcher.wake()
    })
  }

  /** A quarter of the queue is reserved for callers whose project is known. */
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
    await batches.run([...closings, ...admissions].filter(isInTime))
  }

  function isInTime(entry: Waiting): boolean {
    if (now() < entry.dropAtMs) return true
    drop(entry) // L3
    return false
  }

  function drop({ outcomeUnknown, answer }: Waiting): void {
    answer({ kind: 'undecided', why: outcomeUnknown ? 'unknown' : 'unavailable' })
  }

  function dropLate(): boolean {
    waiting.dropLate()
    return waiting.size > 0
  }

  async function decide(entries: Waiting[], mode: BatchMode<Waiting>): Promise<void> {
    const { waitForLocks, shortTimeout, outside, passOver, onWritten } = mode
    const startMs = now()
    const batch = batchOf(entries)
    const rows = await withBatchSpan(entries, () =>
      shortTimeout
        ? withShortTimeout(outside ? deps.reads : deps.admissions, (sql) => run(sql, batch, waitForLocks))
        : run(deps.admissions.sql, batch, waitForLocks),
    )
    onWritten(true)
    metrics.batch(entries.length, now() - startMs)
    if (rows.answersLost > 0) metrics.answersLost(rows.answersLost)
    const onDeferred = (entry: Waiting) => {
      entry.deferrals++
      passOver(entry)
    }
    answerBatch(deps, batch, rows, { onDeferred, onCopy: passOver, onLost: restore, onProject: introduceCaller }) // L2
  }

  /** L5 */
  async function restore(entry: Waiting<SettleItem>, receipt: Receipt): Promise<void> {
    try {
      if (await restoreReservation(deps.locking, receipt)) metrics.restored(receipt.id)
      entry.isRestored = true
      add(entry)
      batcher.wake()
    } catch (error) {
      metrics.restoreFailed(receipt.id, error)
      drop(entry) // its sender repeats it
    }
  }

  /** A3 of quarantine.ts: the sender of an item that was given up gets a final outcome. */
  async function answerFromMemory(entry: Waiting, { givenUp, error }: Remembered): Promise<void> {
    const { item, outcomeUnknown } = entry
    if (!givenUp || item.op === 'expire') return drop(entry)
    if (isAdmission(item)) {
      if (outcomeUnknown) drop(entry) // it may have been written, so its caller releases it
      else entry.answer({ kind: 'refused', code: 'unavailable', facts: {} })
      return
    }
    if (item.op === 'release' || (await keep(item, error))) entry.answer({ kind: 'quarantined' })
    else drop(entry)
  }

  function introduceCaller(item: AdmissionItem, project: string): void {
    if (projects.add(item, project)) waiting.introduce(callerOf(item), project)
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
      await batches.idle()
    },
  }
}

function batchOf(entries: readonly Waiting[]): Batch {
  return {
    closings: entries.filter((entry): entry is Waiting<ClosingItem> => !isAdmission(entry.item)),
    admissions: entries.filter((entry): entry is Waiting<AdmissionItem> => isAdmission(entry.item)),
  }
}

/**
 * While a project's closings cannot be written, its admissions are refused, because their calls could not be charged.
 */
function groupsOf({ item, project }: Waiting): Group[] {
  if (project === undefined || project === null) return []
  return isAdmission(item) ? [`admissions ${project}`, `closings ${project}`] : [`closings ${project}`]
}

/** Adds the projects of closings, by their reservations. If the query fails, they stay unknown. */
async function identifyClosings(deps: Pick<Deps, 'reads'>, entries: readonly Waiting[]): Promise<void> {
  const unknown = entries.filter((entry) => !isAdmission(entry.item) && entry.project === undefined)
  if (unknown.length === 0) return
  const ids = unknown.map(({ item }) => item.id)
  const projects = await projectsOfReservations(deps, ids).catch(() => null)
  if (projects !== null) for (const entry of unknown) entry.project = projects.get(entry.item.id) ?? null
}

type AnswerDeps = Pick<Deps, 'reads' | 'receipts'> & {
  metrics: Pick<Deps['metrics'], 'quarantined' | 'settledMore' | 'fenced'>
}

interface Undecided {
  /** The batch passed over the item. */
  onDeferred: (entry: Waiting) => void
  /** The item is a copy under the idempotency key of a call that was just admitted; a retry returns that call. */
  onCopy: (entry: Waiting<AdmissionItem>) => void
  /** The reservation of the item was lost. */
  onLost: (entry: Waiting<SettleItem>, receipt: Receipt) => void
  /** The row names the caller's project. */
  onProject: (item: AdmissionItem, project: string) => void
}

/** Answers the items of a written batch. From here on an error affects only its item, which is never retried. */
function answerBatch(deps: AnswerDeps, batch: Batch, rows: BatchRows, how: Undecided): void {
  const { metrics } = deps
  const guarded = ({ item, answer }: Waiting, work: () => void) => {
    try {
      work()
    } catch (error) {
      metrics.quarantined(item, error)
      answer({ kind: 'undecided', why: 'unknown' })
    }
  }
  for (const [n, row] of rows.closings.entries()) {
    const entry = batch.closings[n]!
    guarded(entry, () => answerClosing(deps, entry, row, rows.atMs, how))
  }
  const excesses = rows.closings.flatMap(({ excessMicro: micro }, n) =>
    micro > 0 ? [{ reservation: batch.closings[n]!.item.id, micro }] : [],
  )
  void reportExcesses(deps, excesses)
  const replays: Decided[] = []
  for (const [n, row] of rows.admissions.entries()) {
    const entry = batch.admissions[n]!
    guarded(entry, () => answerAdmission(deps, entry, row, rows, replays, how))
  }
  if (replays.length > 0) void finishReplays(deps, replays) // outside the batch: reading responses delays no one
}

function answerClosing(
  { metrics, receipts }: AnswerDeps,
  entry: Waiting<ClosingItem>,
  row: ClosingRow,
  atMs: number,
  { onDeferred, onLost }: Undecided,
): void {
  if (row.outcome === 'deferred') return onDeferred(entry)
  if (row.outcome === 'unknown' && entry.item.op === 'settle' && entry.item.receipt && !entry.isRestored) {
    const receipt = receipts.read(entry.item.receipt, atMs)
    if (receipt?.id === entry.item.id) return onLost(entry as Waiting<SettleItem>, receipt)
  }
  if (row.outcome === 'fenced') metrics.fenced()
  entry.answer(closingOutcome(row))
}

function answerAdmission(
  { receipts }: AnswerDeps,
  entry: Waiting<AdmissionItem>,
  row: AdmissionRow,
  rows: BatchRows,
  replays: Decided[],
  { onDeferred, onCopy, onProject }: Undecided,
): void {
  const project = projectIn(row)
  if (project !== null) onProject(entry.item, project)
  if (row.code === 'deferred') return onDeferred(entry)
  if (row.code === 'copy') return onCopy(entry)
  const outcome = admitOutcome(row, entry.item, rows.products)
  if (outcome.kind === 'admitted' && hasReceipt(entry.item)) {
    const { id, instance, tag = null } = entry.item
    outcome.receipt = receipts.issue({ ...(row.facts as AdmittedFacts), id, instance, tag }, rows.atMs)
  }
  if (outcome.kind === 'replay') replays.push({ waiting: entry, row })
  else entry.answer(outcome)
}

interface AnswerRow {
  reservation: string
  content_type: string
  body: Uint8Array
}

interface ReplayFacts {
  reservation: string
  /** null: nothing was saved. */
  day: string | null
  invocation: string
}

/**
 * Answers repeats with the saved response of the first call, byte for byte (rules §5.3).
 * Many repeats of one call read its response once.
 */
async function finishReplays(deps: Pick<Deps, 'reads'>, decided: Decided[]): Promise<void> {
  const replays = decided.map(({ waiting, row }) => ({ waiting, facts: row.facts as unknown as ReplayFacts }))
  let saved: Awaited<ReturnType<typeof readAnswers>>
  try {
    saved = await readAnswers(
      deps,
      replays.map(({ facts }) => facts),
    )
  } catch {
    for (const { waiting } of replays) waiting.answer({ kind: 'undecided', why: 'unavailable' })
    return
  }
  for (const { waiting, facts } of replays) {
    const answer = saved.get(facts.reservation)
    if (answer) waiting.answer({ kind: 'replay', invocation: facts.invocation, ...answer })
    else waiting.answer({ kind: 'refused', code: 'answer_not_kept', facts: {} })
  }
}

async function readAnswers({ reads }: Pick<Deps, 'reads'>, replays: ReplayFacts[]) {
  const days = new Map(replays.flatMap(({ reservation, day }) => (day ? [[reservation, day]] : [])))
  const rows = await reads.sql.query<AnswerRow>(
    `SELECT a.reservation, a.content_type, a.body
       FROM unnest($1::text[], $2::text[]) w (reservation, day)
       JOIN money.answers a ON a.day = w.day::date AND a.reservation = w.reservation`,
    [[...days.keys()], [...days.values()]],
  )
  return new Map(
    rows.map(({ reservation, content_type, body }) => [
      reservation,
      { contentType: content_type, body: Buffer.from(body).toString() },
    ]),
  )
}
