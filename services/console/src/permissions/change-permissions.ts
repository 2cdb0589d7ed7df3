import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { openAuthorize, type Authorize } from './authorize.ts'

/** Runs a change of who may do what in a tenant, in one transaction with a gate that sees what the transaction sees. */
export type ChangePermissions = <T>(
  tenant: string,
  change: (tx: Transaction, authorize: Authorize) => Promise<T>,
) => Promise<T>

/**
 * Such changes go one after the other in each tenant: whoever has just lost a right passes nothing on any more, and two
 * Admins can't remove each other at the same moment.
 */
export function permissionsChanger({ prisma }: Pick<ConsoleDeps, 'prisma'>): ChangePermissions {
  return (tenant, change) =>
    prisma.$transaction(async (tx) => {
      // NO KEY: rows that only refer to the tenant may come and go meanwhile.
      await tx.$queryRaw`SELECT FROM control.tenants WHERE id = ${tenant} FOR NO KEY UPDATE`
      return change(tx, openAuthorize({ prisma: tx }))
    })
}
