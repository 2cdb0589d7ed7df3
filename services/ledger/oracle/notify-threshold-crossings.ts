import type { Book, Reservation } from './book.ts'

// Which thresholds an entry has crossed, once it is in the book: what money.notify_threshold_crossings must agree with.

/** @param fallen by how much what remains of the wallet has fallen just now; less than 0: it rose */
export function notifyLowWallet(book: Book, project: string, fallen: bigint): void {
  const wallet = book.wallets.get(project)!
  const remaining = wallet.funded - wallet.settled
  for (const threshold of book.thresholds.get(project)?.below ?? [])
    if (remaining < threshold && remaining + fallen >= threshold)
      book.notices.push(`wallet.below ${project} ${threshold}`)
}

/** @param charged what the window of this reservation has just spent */
export function notifyFullWindow(book: Book, { project, lineage }: Reservation, charged: bigint): void {
  const { spent, windowStartMs } = book.meters.get(lineage)!
  const limit = [...book.keys.values()].find((key) => key.lineage === lineage && key.limit !== null)!.limit!.micro
  for (const percent of book.thresholds.get(project)?.percents ?? [])
    if (spent * 100n >= percent * limit && (spent - charged) * 100n < percent * limit)
      book.notices.push(`key.percent ${lineage} ${windowStartMs} ${percent}`)
}
