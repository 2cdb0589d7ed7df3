import type { Prisma } from '@gateway/database/client'

/** Transaction that writes a change together with its audit row. */
export type Transaction = Prisma.TransactionClient

export interface Change {
  /** null: the change concerns no tenant, such as a change of a product. */
  tenant: string | null
  /** null: made by a key. */
  user: string | null
  /** What was done, such as `key.revoke`. */
  action: string
  /** ID of the changed object. */
  subject: string
  /** Never a secret. */
  details?: Prisma.InputJsonObject
}

/** Writes an audit row. The table is append-only. */
export async function recordChange(tx: Transaction, { details = {}, ...change }: Change): Promise<void> {
  await tx.auditEntry.create({ data: { ...change, details }, select: { id: true } })
}
