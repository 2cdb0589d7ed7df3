import type { Deps } from '../deps.ts'
import { finishReplays } from './finish-replays.ts'
import { admitOutcome, closingOutcome, projectIn, type Decided } from './outcome-of-row.ts'
import type { AdmissionRow, BatchRows, ClosingRow } from './run-batch.ts'
import type { AdmissionItem, Batch, ClosingItem, Waiting } from './waiting-items.ts'

type AnswerDeps = Pick<Deps, 'reads'> & { metrics: Pick<Deps['metrics'], 'setAside' | 'settledMore' | 'fenced'> }

interface Undecided {
  /** It was passed over. */
  onDeferred: (entry: Waiting) => void
  /** A copy under the idempotency key of a call that was just admitted: whoever asks again hears of that call. */
  onCopy: (entry: Waiting<AdmissionItem>) => void
  /** The row names the project of a caller. */
  onProject: (item: AdmissionItem, project: string) => void
}

/** Answers the items of a batch that is written: what fails from here on fails alone, and is never asked again. */
export function answerBatch(deps: AnswerDeps, batch: Batch, rows: BatchRows, how: Undecided): void {
  const { metrics } = deps
  const guarded = ({ item, answer }: Waiting, work: () => void) => {
    try {
      work()
    } catch (error) {
      metrics.setAside(item, error)
      answer({ kind: 'undecided', why: 'unknown' })
    }
  }
  for (const [n, row] of rows.closings.entries()) {
    const entry = batch.closings[n]!
    guarded(entry, () => answerClosing(deps, entry, row, how))
  }
  const replays: Decided[] = []
  for (const [n, row] of rows.admissions.entries()) {
    const entry = batch.admissions[n]!
    guarded(entry, () => answerAdmission(entry, row, rows, replays, how))
  }
  if (replays.length > 0) void finishReplays(deps, replays) // outside the batch: reading answers keeps nobody waiting
}

function answerClosing(
  { metrics }: AnswerDeps,
  entry: Waiting<ClosingItem>,
  row: ClosingRow,
  { onDeferred }: Undecided,
): void {
  if (row.outcome === 'deferred') return onDeferred(entry)
  if (row.excessMicro > 0) metrics.settledMore(row.excessMicro)
  if (row.outcome === 'fenced') metrics.fenced()
  entry.answer(closingOutcome(row))
}

function answerAdmission(
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
  if (outcome.kind === 'replay') replays.push({ waiting: entry, row })
  else entry.answer(outcome)
}
