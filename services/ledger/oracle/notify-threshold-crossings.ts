import type { Book, Reservation } from './book.ts'

// The thresholds that an entry has crossed, once it is booked. money.notify_threshold_crossings must agree.

/** @param fallen decrease of the wallet's remaining balance by this entry; negative if it rose */
export function notifyLowWallet(book: Book, project: string, fallen: bigint): void {
  const wallet = book.wallets.get(project)!
  const remaining = wallet.funded - wallet.settled
  for (const threshold of book.thresholds.get(project)?.below ?? [])
    if (remaining < threshold && remaining + fallen >= threshold)
      book.notices.push(`wallet.below ${project} ${threshold}`)
}

/** @param charged amount that this entry has spent in the window of the reservation */
export function notifyFullWindow(book: Book, { project, lineage }: Reservation, charged: bigint): void {
  const { spent, windowStartMs } = book.meters.get(lineage)!
  const limit = [...book.keys.values()].find((key) => key.lineage === lineage && key.limit !== null)!.limit!.micro
  for (const percent of book.thresholds.get(project)?.percents ?? [])
    if (spent * 100n >= percent * limit && (spent - charged) * 100n < percent * limit)
      book.notices.push(`key.percent ${lineage} ${windowStartMs} ${percent}`)
}
