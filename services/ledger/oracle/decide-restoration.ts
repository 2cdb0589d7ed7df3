import { windowStartMs } from '@gateway/pricing/spending-window'
import type { Price } from '@gateway/pricing/price'
import type { Receipt } from '../src/admissions/receipts.ts'
import { availableIn, type Book, type KeyFacts, budgetsOf, leftInBudget, notifyLowWallet } from './book.ts'
import { laterWindow, leftInWindow } from './decide-fit.ts'
import { enterAdmission } from './decide-admission.ts'

/** The receipt of a lost admission, with the price as the book has it. */
export type LostAdmission = Omit<Receipt, 'price'> & { price: Price; keyFacts: KeyFacts | undefined }

/** Restores a reservation as money.restore_reservation does. Returns whether it was lost. */
export function decideRestoration(book: Book, lost: LostAdmission, nowMs: number): boolean {
  const { id, project, key, product, instance, micro, outputCap, price } = lost
  const keyFacts = lost.keyFacts?.project === project ? lost.keyFacts : null // R4 of restore_reservation
  if (book.open.has(id) || book.closed.has(id)) return false // R1 of restore_reservation
  const windowStart = keyFacts?.limit ? laterWindow(book, keyFacts, windowStartMs(keyFacts.limit.reset, nowMs)) : null
  const left = [availableIn(book.wallets.get(project))] // R2 of restore_reservation
  if (keyFacts && windowStart !== null) left.push(leftInWindow(book, keyFacts, windowStart))
  const budgets = keyFacts ? budgetsOf(book, keyFacts.user, keyFacts.tag ?? lost.tag, nowMs) : []
  for (const window of budgets) left.push(leftInBudget(book, window) ?? BigInt(micro))
  const reserves = left.reduce((least, each) => (each < least ? each : least), BigInt(micro))
  enterAdmission(book, {
    code: 'admitted',
    key: keyFacts,
    idempotencyKey: null,
    fingerprint: null,
    reservation: {
      id,
      invocation: id,
      attempt: 1,
      project,
      key,
      lineage: keyFacts?.lineage ?? key,
      windowStartMs: windowStart,
      product,
      instance,
      micro: reserves > 0n ? reserves : 0n,
      outputCap: BigInt(outputCap),
      promptTokens: null,
      price,
      node: null,
      budgets,
    },
  })
  return true
}

/** The rule that money.correct must agree with: a wallet is adjusted by a signed amount, and never below zero. */
export function decideCorrection(book: Book, project: string, micro: bigint): 'corrected' | 'short' {
  const wallet = book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
  if (availableIn(wallet) + micro < 0n) return 'short'
  book.wallets.set(project, { ...wallet, funded: wallet.funded + micro })
  notifyLowWallet(book, project, -micro)
  return 'corrected'
}
