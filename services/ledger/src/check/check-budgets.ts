import type { Database } from '@gateway/database/client'
import type { Finding } from './fold-journal.ts'

// Compares budgets with what counts towards them in all projects of their organization (money §9.1): open reservations,
// what the checks of these wallets have folded, and the settlements after that. One statement sees all of it in one view.

interface Compared {
  id: string
  tenant: string
  windowStart: Date
  spent: bigint
  reserved: bigint
  open: bigint
  charged: bigint
}

export type BudgetFinding = Finding & { tenant: string }

/**
 * Checks the budgets that span any of these wallets. Every wallet of their organizations must have been checked once:
 * its entries since then are read here.
 */
export async function checkBudgets({ prisma }: Pick<Database, 'prisma'>, wallets: string[]): Promise<BudgetFinding[]> {
  const findings: BudgetFinding[] = []
  for (const { id, tenant, windowStart, spent, reserved, open, charged } of await compare(prisma, wallets)) {
    const where = `budget ${id} from ${windowStart.toISOString()}`
    const same = (what: string, expectedMicro: bigint, foundMicro: bigint) => {
      if (expectedMicro !== foundMicro) findings.push({ tenant, what, where, expectedMicro, foundMicro })
    }
    same('reserved differs from the open reservations', open, reserved)
    same('spent differs from the journals', charged, spent)
  }
  return findings
}

function compare(prisma: Database['prisma'], wallets: string[]): Promise<Compared[]> {
  return prisma.$queryRawUnsafe<Compared[]>(
    `WITH budget AS MATERIALIZED (
       SELECT id, tenant, window_start, spent, reserved FROM money.budgets
        WHERE tenant IN (SELECT tenant FROM control.projects WHERE id = ANY ($1::text[]))
     ), moved AS MATERIALIZED ( -- since their check; what the others have spent is folded
       SELECT w.project, coalesce(c.seq, 0) AS seq, coalesce(c.at, '-infinity') AS at
         FROM money.wallets w
         LEFT JOIN money.checked_wallets c ON c.project = w.project
        WHERE EXISTS (SELECT FROM budget) -- else no wallet is read
          AND w.journal_seq > coalesce(c.seq, 0)
     ), open AS (
       SELECT b.id, b.window_start, sum(r.micro)::bigint AS micro
         FROM money.reservations r
        CROSS JOIN LATERAL unnest(r.budgets, r.budget_windows) AS b (id, window_start)
        WHERE EXISTS (SELECT FROM budget) AND r.budgets && (SELECT array_agg(id) FROM budget)
        GROUP BY 1, 2
     ), folded AS (
       SELECT b.id, m.window_start, m.spent AS micro FROM budget b JOIN money.checked_meters m ON m.lineage = b.id
     ), later AS (
       SELECT b.id, b.window_start, j.settled AS micro
         FROM moved m
         LEFT JOIN control.projects p ON p.id = m.project
        CROSS JOIN LATERAL (
          SELECT reference, settled FROM money.journal j
           WHERE j.project = m.project AND j.seq > m.seq AND j.kind = 'settle' AND j.at >= m.at - interval '1 hour') j
        CROSS JOIN LATERAL (
          SELECT budgets, budget_windows FROM money.attempts v WHERE v.id = j.reference LIMIT 1) v
        CROSS JOIN LATERAL unnest(v.budgets, v.budget_windows) AS b (id, window_start)
        WHERE p.tenant IN (SELECT tenant FROM budget) OR p.id IS NULL -- deleted, and no organization is known
     ), charged AS (
       SELECT id, window_start, sum(micro)::bigint AS micro
         FROM (SELECT * FROM folded UNION ALL SELECT * FROM later) a GROUP BY 1, 2
     )
     SELECT b.id, b.tenant, b.window_start AS "windowStart", b.spent, b.reserved,
            coalesce(o.micro, 0)::bigint AS open, coalesce(c.micro, 0)::bigint AS charged
       FROM budget b
       LEFT JOIN open o ON o.id = b.id AND o.window_start = b.window_start
       LEFT JOIN charged c ON c.id = b.id AND c.window_start = b.window_start
      ORDER BY b.id`,
    wallets,
  )
}
