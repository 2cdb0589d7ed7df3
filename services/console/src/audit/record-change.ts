import type { Prisma } from '@gateway/database/client'

/** A transaction in which a change and its audit row are written together. */
export type Transaction = Prisma.TransactionClient

export interface Change {
  /** null: of no tenant, such as a product. */
  tenant: string | null
  /** null: a key did it by itself. */
  user: string | null
  /** What was done, such as `key.revoke`. */
  action: string
  /** The id of what it was done to. */
  subject: string
  /** Never a secret. */
  details?: Prisma.InputJsonObject
}

/** Writes down who changed what. The table can only be added to. */
export async function recordChange(tx: Transaction, { details = {}, ...change }: Change): Promise<void> {
  await tx.auditEntry.create({ data: { ...change, details }, select: { id: true } })
}
