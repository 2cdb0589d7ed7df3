import { pricedParts, type Usage } from '@gateway/pricing/usage'
import { costMicro } from '@gateway/pricing/price'
import type { Book } from './book.ts'

/** A provider's response to a node's call, under the reservation of an attempt that had lost its lease. */
export interface LateAnswer {
  reservation: string
  execution: string
  usage: Omit<Usage, 'estimated'>
}

/** Returns the write-off in micro-USD; null: the reservation is not an uncharged attempt of this execution. */
export function decideLateAnswer(book: Book, { reservation, execution, usage }: LateAnswer): bigint | null {
  const closed = book.closed.get(reservation)
  if (!closed?.price || closed.node === null || closed.state !== 'Released') return null
  if (!closed.node.startsWith(`${execution} `)) return null
  return costMicro(closed.price, BigInt(usage.promptTokens), BigInt(usage.completionTokens), pricedParts(usage))
}
