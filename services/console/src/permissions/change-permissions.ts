import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'

/**
 * Changes who may do what in a tenant, in one transaction. Such changes go one after the other in each tenant; so whoever asks
 * for one is authorized again inside it, by the transaction: who has just lost a permission passes nothing on any more, and
 * two Admins can't remove each other at the same moment.
 */
export function changePermissions<T>(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  tenant: string,
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return prisma.$transaction(async (tx) => {
    // NO KEY: rows that only refer to the tenant may come and go meanwhile.
    await tx.$queryRaw`SELECT FROM control.tenants WHERE id = ${tenant} FOR NO KEY UPDATE`
    return change(tx)
  })
}
