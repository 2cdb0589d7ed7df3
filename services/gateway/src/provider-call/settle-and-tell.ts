import { chargeOfUsage } from '@gateway/contracts/price-snapshot'
import type { SettleItem } from '@gateway/contracts/ledger-items'
import { recordedUsage } from '@gateway/contracts/usage'
import type { CountedUsage } from '@gateway/tokens/counted-usage'
import type { Call } from './call.ts'
import { settle } from './reservation.ts'

// What a call was charged stands in its answer, and the answer is saved by the settlement that charges it (rules §3.6).
//   C1  So it is written before the settlement, with what the settlement will charge: usage, price and reservation decide that
//       alone. Only a settlement that charges keeps what was saved.
//   C2  It is sent after the settlement, and tells 0 where that charged nobody. Where its end is not known yet, the answer goes as it
//       was written: a settlement goes on until it is decided, and a repeat is answered what was saved, byte for byte. If it
//       charges nobody in the end, the caller was told more than they pay, never less.
//   C3  A ledger that tells no price gets an answer without a cost, so that a repeat is the same.

/** How the text that tells the cost is written, and what of it is saved. */
interface Told {
  /** @param chargedMicro null: the text tells no cost */
  write: (chargedMicro: number | null) => string
  save: (text: string) => Promise<SettleItem['answer']> | SettleItem['answer']
}

/** Settles a call, and answers the text to be sent after it. */
export async function settleAndTell(
  deps: Parameters<typeof settle>[0],
  { admitted, reservation }: Pick<Call, 'admitted' | 'reservation'>,
  usage: CountedUsage,
  { write, save }: Told,
): Promise<string> {
  const { price, reservedMicro } = admitted
  const expected = price === undefined ? null : chargeOfUsage(price, recordedUsage(usage), reservedMicro) // C1
  const text = write(expected)
  const charged = await settle(deps, reservation, usage, await save(text))
  return expected === null || charged === null || charged === expected ? text : write(charged) // C2, C3
}
