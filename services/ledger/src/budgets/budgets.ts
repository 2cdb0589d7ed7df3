import type { BudgetRequest, RemovedBudget } from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'

// Monthly budgets of an organization (money §6.4). Admission counts towards them and keeps hard ones
// (B12 of run_batch). A budget counts what is admitted from its creation on.

/**
 * Sets the budget of a user, team or tag; one that it has already gets the new limit and keeps what it has counted.
 * @returns its ID: that of the request, unless the budget existed before
 */
export async function setBudget(
  { reads }: Pick<Deps, 'reads'>,
  { id, tenant, kind, subject, limitMicro, hard, createdBy }: BudgetRequest,
): Promise<{ id: string }> {
  const limit = { limitMicro: BigInt(limitMicro), isHard: hard }
  const target = `${tenant} ${kind} ${subject}` // as money.budget_targets joins them
  return reads.prisma.budget.upsert({
    where: { target },
    create: {
      id,
      tenant,
      kind,
      subject,
      target,
      ...limit,
      windowStart: new Date(0), // the first call that counts opens the current month
      createdBy,
      createdAt: new Date(),
    },
    update: limit,
    select: { id: true },
  })
}

/** Removes a budget; its row stays, because open reservations name it. */
export async function removeBudget(
  { reads }: Pick<Deps, 'reads'>,
  { id, tenant }: RemovedBudget,
): Promise<{ found: boolean }> {
  const { count } = await reads.prisma.budget.updateMany({
    where: { id, tenant, target: { not: null } },
    data: { target: null, removedAt: new Date() },
  })
  return { found: count > 0 }
}
