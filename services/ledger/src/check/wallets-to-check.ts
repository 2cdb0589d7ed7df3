import type { Database } from '@gateway/database/client'

// Which wallets a check has to look at. Both questions are one statement for all wallets, so that a wallet that stands
// still costs a row of it and nothing more.

const COMPARED_AT_ONCE = 2_000

/** Wallets that are not as their last check left them, and those that had a finding then. */
export async function walletsThatMoved({ prisma }: Pick<Database, 'prisma'>): Promise<string[]> {
  const rows = await prisma.$queryRawUnsafe<{ project: string }[]>(
    `SELECT w.project FROM money.wallets w
       LEFT JOIN money.checked_wallets c ON c.project = w.project
      WHERE c.project IS NULL OR c.findings <> '[]'
         OR (c.seq, c.funded, c.reserved, c.settled, c.seal) <> (w.journal_seq, w.funded, w.reserved, w.settled, w.seal)
      ORDER BY w.project`,
  )
  return rows.map(({ project }) => project)
}

/**
 * Compares the open reservations and the meters of wallets that were not looked at for an hour, a part of them at once.
 * Answers those of which they don't fit, and notes the others as looked at.
 */
export async function walletsThatDiffer({ prisma }: Pick<Database, 'prisma'>): Promise<string[]> {
  const part = await prisma.$queryRawUnsafe<{ project: string }[]>(
    `SELECT project FROM money.checked_wallets WHERE checked_at < now() - interval '1 hour' ORDER BY checked_at LIMIT $1`,
    COMPARED_AT_ONCE,
  )
  if (part.length === 0) return []
  const rows = await prisma.$queryRawUnsafe<{ project: string }[]>(
    `WITH part AS MATERIALIZED (
       SELECT c.project, w.reserved FROM money.checked_wallets c JOIN money.wallets w ON w.project = c.project
        WHERE c.project = ANY ($1::text[]) AND c.seq = w.journal_seq -- the others have moved
     ), open AS MATERIALIZED (
       SELECT project, lineage, window_start, sum(micro) AS micro FROM money.reservations
        WHERE project = ANY ($1::text[]) GROUP BY 1, 2, 3
     ), spent AS MATERIALIZED (
       SELECT project, lineage, window_start, spent FROM money.checked_meters WHERE project = ANY ($1::text[])
     ), meter AS MATERIALIZED (
       SELECT project, lineage, window_start, spent, reserved FROM money.meters WHERE project = ANY ($1::text[])
     ), differs AS MATERIALIZED (
       SELECT p.project FROM part p
         LEFT JOIN (SELECT project, sum(micro) AS micro FROM open GROUP BY 1) o ON o.project = p.project
        WHERE p.reserved <> coalesce(o.micro, 0)
       UNION
       SELECT m.project FROM meter m
         LEFT JOIN open o ON o.lineage = m.lineage AND o.window_start = m.window_start
         LEFT JOIN spent s ON s.lineage = m.lineage AND s.window_start = m.window_start
        WHERE m.reserved <> coalesce(o.micro, 0) OR m.spent <> coalesce(s.spent, 0)
       UNION
       SELECT u.project
         FROM (SELECT project, lineage, window_start FROM open WHERE window_start IS NOT NULL
               UNION ALL SELECT project, lineage, window_start FROM spent) u
         LEFT JOIN meter m ON m.lineage = u.lineage
        WHERE coalesce(m.window_start < u.window_start, true)
     ), looked_at AS (
       UPDATE money.checked_wallets c SET checked_at = clock_timestamp() FROM part p
        WHERE c.project = p.project AND NOT EXISTS (SELECT FROM differs d WHERE d.project = p.project)
     )
     SELECT d.project FROM differs d JOIN part p ON p.project = d.project ORDER BY 1`,
    part.map(({ project }) => project),
  )
  return rows.map(({ project }) => project)
}
