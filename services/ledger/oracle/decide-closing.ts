import { pricedParts } from '@gateway/pricing/usage'
import { chargeMicro, costMicro } from '@gateway/pricing/price'
import type { ClosingItem } from '../src/admissions/waiting-items.ts'
import type { Book, Reservation } from './book.ts'

interface Close {
  reservation: Reservation
  chargedMicro: bigint
  excessMicro: bigint
}

export type ClosingDecision =
  | { outcome: 'settled'; close: Close; usedPromptTokens: bigint }
  | { outcome: 'released'; close: Close }
  | { outcome: 'released'; tombstone: string }
  /** Closed before: the first outcome counts. */
  | { outcome: 'settled' | 'released'; before: bigint }
  /** The reservation had already been released: the call is written off. */
  | { outcome: 'fenced'; writeOffMicro: bigint }
  | { outcome: 'unknown' | 'alive' }

/**
 * Decides a closing (B3, B5 of run_batch). A settlement charges the usage, capped at the reserved amount.
 * @param ofExecutions whether it may close reservations of nodes, or those of direct calls (B9 of run_batch)
 */
export function decideClosing(book: Book, item: ClosingItem, ofExecutions: boolean): ClosingDecision {
  const reservation = book.open.get(item.id)
  const closed = book.closed.get(item.id)
  const isTombstone = closed !== undefined && closed.price === null
  const found = reservation ?? closed
  if (found && !isTombstone && (found.node !== null) !== ofExecutions) return { outcome: 'unknown' }
  if (reservation) return closeOpen(book, item, reservation)
  if (!closed)
    return item.op === 'release' && !ofExecutions ? { outcome: 'released', tombstone: item.id } : { outcome: 'unknown' }
  if (closed.state === 'Settled') return { outcome: 'settled', before: closed.chargedMicro }
  if (item.op !== 'settle') return { outcome: 'released', before: 0n }
  return { outcome: 'fenced', writeOffMicro: closed.price ? costOf(item, closed.price) : 0n }
}

function closeOpen(book: Book, item: ClosingItem, reservation: Reservation): ClosingDecision {
  switch (item.op) {
    case 'expire':
      if (book.liveInstances.has(reservation.instance)) return { outcome: 'alive' }
      return { outcome: 'released', close: { reservation, chargedMicro: 0n, excessMicro: 0n } }
    case 'release':
      return { outcome: 'released', close: { reservation, chargedMicro: 0n, excessMicro: 0n } }
    case 'settle': {
      const cost = costOf(item, reservation.price)
      const chargedMicro = chargeMicro(cost, reservation.micro)
      return {
        outcome: 'settled',
        close: { reservation, chargedMicro, excessMicro: cost - chargedMicro },
        usedPromptTokens: BigInt(item.usage.promptTokens),
      }
    }
  }
}

function costOf(item: ClosingItem & { op: 'settle' }, price: Reservation['price']): bigint {
  return costMicro(price, BigInt(item.usage.promptTokens), BigInt(item.usage.completionTokens), pricedParts(item.usage))
}
