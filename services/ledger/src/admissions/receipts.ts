import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { PriceSnapshot } from '@gateway/pricing/usage'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { AdmissionItem } from './waiting-items.ts'

// An admission of a direct call is answered before it is on disk (B11 of run_batch). Its receipt holds what was admitted,
// signed, and comes back with the settlement. If Postgres has lost the reservation, it is restored from the receipt
// (money §4.5).
//   K1  The secret is in the database, so every replica reads the receipts of all others.
//   K2  A receipt of more than a day is refused. By then the usage record of its call, which shows that nothing was
//       lost, may be in an archive.
//   K3  Some fields are texts that the gateway chose, such as the id, so no text can pass for two fields.

/** What restores a reservation: the arguments of money.restore_reservation. */
export interface Receipt {
  id: string
  project: string
  key: string
  product: string
  instance: string
  micro: number
  outputCap: number
  price: PriceSnapshot
  /** That the call named; null: none. */
  tag: string | null
  /** By the database's clock. Unix milliseconds. */
  admittedMs: number
}

export interface Receipts {
  /** Returns the receipt as text. */
  issue(admitted: Omit<Receipt, 'admittedMs'>, admittedMs: number): string
  /** Returns null for a text that no replica has issued, or that is too old (K2). */
  read(text: string, nowMs: number): Receipt | null
}

const VALID_MS = 24 * 3_600_000

type Fields = [
  id: string,
  project: string,
  key: string,
  product: string,
  instance: string,
  micro: number,
  outputCap: number,
  price: PriceSnapshot,
  tag: string | null,
  admittedMs: number,
]

/** @throws Error if the table of the secret is empty */
export async function openReceipts({ prisma }: Pick<Database, 'prisma'>): Promise<Receipts> {
  const { secret } = await prisma.receiptSecret.findFirstOrThrow()
  const key = createSecretKey(secret) // a Buffer would be turned into one for each receipt, at four times the cost
  const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest()
  return {
    issue({ id, project, key, product, instance, micro, outputCap, price, tag }, admittedMs) {
      const fields: Fields = [id, project, key, product, instance, micro, outputCap, price, tag, admittedMs]
      const text = JSON.stringify(fields) // K3
      return `${text}.${signatureOf(text).toString('base64url')}`
    },
    read(text, nowMs) {
      const end = text.lastIndexOf('.')
      const signed = text.slice(0, Math.max(end, 0))
      const signature = Buffer.from(text.slice(end + 1), 'base64url')
      const expected = signatureOf(signed)
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return null
      const [id, project, key, product, instance, micro, outputCap, price, tag, admittedMs] = JSON.parse(
        signed,
      ) as Fields
      if (nowMs - admittedMs > VALID_MS) return null // K2
      return { id, project, key, product, instance, micro, outputCap, price, tag, admittedMs }
    },
  }
}

/** Whether an admission is answered before it is on disk: one under an idempotency key is not, nor is one of a node. */
export function hasReceipt(item: AdmissionItem): item is AdmitItem & { instance: string } {
  return item.op === 'admit' && item.idempotency === null && item.instance !== null
}

/**
 * Restores a reservation that Postgres has lost. Returns false if it was not lost.
 * @throws the error of the database, for example if the wallet is locked
 */
export async function restoreReservation({ sql }: Pick<Database, 'sql'>, receipt: Receipt): Promise<boolean> {
  const { restored } = await callFunction(sql, 'money.restore_reservation', {
    call: receipt.id,
    of_project: receipt.project,
    of_key: receipt.key,
    of_product: receipt.product,
    of_instance: receipt.instance,
    bound: BigInt(receipt.micro),
    cap: receipt.outputCap,
    price: receipt.price,
    admitted_ms: BigInt(receipt.admittedMs),
    of_tag: receipt.tag,
  })
  return restored
}
