import { availableIn, type Book } from './book.ts'
import { notifyLowWallet } from './notify-threshold-crossings.ts'

/** The rule that money.correct must agree with: a wallet is adjusted by a signed amount, and never below zero. */
export function decideCorrection(book: Book, project: string, micro: bigint): 'corrected' | 'short' {
  const wallet = book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
  if (availableIn(wallet) + micro < 0n) return 'short'
  book.wallets.set(project, { ...wallet, funded: wallet.funded + micro })
  notifyLowWallet(book, project, -micro)
  return 'corrected'
}
