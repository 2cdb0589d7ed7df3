import { pricedParts, type Usage } from '@gateway/pricing/usage'
import { costMicro } from '@gateway/pricing/price'
import type { Book } from './book.ts'

/** The answer to the call of a node, under the reservation of an attempt whose lease was another's by then. */
export interface LateAnswer {
  reservation: string
  execution: string
  usage: Omit<Usage, 'estimated'>
}

/** What it is written off with, in micro-USD; null: it is not an attempt of this execution that ended without a charge. */
export function decideLateAnswer(book: Book, { reservation, execution, usage }: LateAnswer): bigint | null {
  const closed = book.closed.get(reservation)
  if (!closed?.price || closed.node === null || closed.state !== 'Released') return null
  if (!closed.node.startsWith(`${execution} `)) return null
  return costMicro(closed.price, BigInt(usage.promptTokens), BigInt(usage.completionTokens), pricedParts(usage))
}
