import { foldJournal, type Checkpoint, type Entry, type Finding, type SpentByWindow } from '../check/fold-journal.ts'
import type { Closing } from './wallet-line.ts'

/** A wallet whose month is being folded. */
export interface MonthFold {
  /** `at.at` is the latest moment of all of its entries. */
  at: Checkpoint
  windows: SpentByWindow
}

export function beginFold({ at, windows }: Closing): MonthFold {
  return { at, windows: new Map(windows) }
}

/** Folds entries onto a wallet as the check of the books does: whole blocks alone. Answers what does not add up. */
export function foldMore(fold: MonthFold, entries: Entry[]): Finding[] {
  const { to, spent, findings } = foldJournal(fold.at, entries)
  for (const [name, window] of spent)
    fold.windows.set(name, { ...window, micro: window.micro + (fold.windows.get(name)?.micro ?? 0n) })
  let latest = fold.at.at
  for (const { seq, at } of entries) if (seq <= to.seq && (latest === null || at > latest)) latest = at
  fold.at = { ...to, at: latest }
  return findings
}

export function sayInJournal(project: string, { where, what, expectedMicro, foundMicro }: Finding): string {
  return `${project}: ${where}: ${what}: expected ${expectedMicro}, found ${foundMicro} micro-USD`
}
