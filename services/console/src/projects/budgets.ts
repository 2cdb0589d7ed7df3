import type { BudgetRecord } from '@gateway/api/console/budgets'
import type { Prisma } from '@gateway/database/client'
import { invalidField } from '@gateway/api/field-problem'
import { refuse } from '@gateway/api/refusal'
import { windowEndMs, windowStartMs } from '@gateway/pricing/spending-window'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { changePermissions, inTenant } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { requireMember } from '../users/members.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId' | 'now'>

/** GET …/budgets: the monthly budgets of an organization (money §6.4). */
export function listBudgets({ prisma, now }: Deps): Handler<'listBudgets'> {
  return async (call, res) => {
    const { tenant } = await inTenant(prisma, call, res, 'budgets.manage')
    const { cursor, limit } = call.query()
    const rows = await prisma.budget.findMany({
      where: { tenant, target: { not: null }, id: idsAfter(cursor, 'bud_') },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const atMs = now().getTime()
    res.json(
      pageOf(
        rows.map((row) => budgetRecord(row, atMs)),
        limit,
        ({ id }) => id,
      ),
    )
  }
}

/** PUT …/budgets: sets the budget of a user, team or tag. The ledger writes it; the audit row follows. */
export function setBudget({ prisma, ledger, newId, now }: Deps): Handler<'setBudget'> {
  return async (call, res) => {
    const { user, tenant } = await inTenant(prisma, call, res, 'budgets.manage')
    const budget = await call.body()
    const { kind, subject } = budget
    if (kind === 'user') await requireMember(prisma, tenant, subject)
    if (kind === 'team' && !(await prisma.team.findFirst({ where: { id: subject, tenant } })))
      throw invalidField('subject', 'is not a team of the organization', 'send the ID of one of its teams')
    const { id } = await ledger.setBudget({ id: newId('bud'), tenant, createdBy: user.id, ...budget })
    await recordChange(prisma, { tenant, user: user.id, action: 'budget.set', subject: id, details: budget })
    const row = await prisma.budget.findUniqueOrThrow({ where: { id } }) // the row of a removed budget stays
    res.json(budgetRecord(row, now().getTime()))
  }
}

/**
 * DELETE …/budgets/{budget}: calls that count towards it end as they began. The ledger removes it and the audit row
 * follows; if that row is missing, a repeated request writes it and answers as the first one would have. After four
 * weeks a missing row means that the audit has forgotten it.
 */
export function removeBudget(deps: Deps): Handler<'removeBudget'> {
  const { prisma, ledger, now } = deps
  return async (call, res) => {
    const { user, tenant } = await inTenant(prisma, call, res, 'budgets.manage')
    const id = call.id('budget')
    const row = await prisma.budget.findFirst({ where: { id, tenant } })
    await ledger.removeBudget({ id, tenant })
    if (row === null || isForgotten(row.removedAt, now())) throw refuse('not_found', {})
    const { kind, subject } = row
    // In sequence, so that of concurrent removals only one writes the row.
    await changePermissions(deps, tenant, async (tx) => {
      const change = { tenant, action: 'budget.remove' as const, subject: id }
      if (await tx.auditEntry.findFirst({ where: change })) throw refuse('not_found', {})
      await recordChange(tx, { ...change, user: user.id, details: { kind, subject } })
    })
    res.status(204).end()
  }
}

/** Less than the 30 days for which the audit keeps every entry. */
const FOUR_WEEKS_MS = 28 * 86_400_000

function isForgotten(removedAt: Date | null, now: Date): boolean {
  return removedAt !== null && now.getTime() - removedAt.getTime() > FOUR_WEEKS_MS
}

function budgetRecord(row: Prisma.BudgetModel, nowMs: number): BudgetRecord {
  const month = windowStartMs('monthly', nowMs)
  const isCurrent = row.windowStart.getTime() >= month // else nothing was admitted this month
  return {
    id: row.id,
    kind: row.kind as BudgetRecord['kind'],
    subject: row.subject,
    limitMicro: Number(row.limitMicro),
    hard: row.isHard,
    spentMicro: isCurrent ? Number(row.spent) : 0,
    reservedMicro: isCurrent ? Number(row.reserved) : 0,
    resetsAt: new Date(windowEndMs('monthly', isCurrent ? row.windowStart.getTime() : month)!).toISOString(),
    createdAt: row.createdAt.toISOString(),
  }
}
