import type { Database } from '@gateway/database/client'
import { endOf, startOf, type Month } from './month.ts'

// The wallets that moved in a month, and up to which entry. The clock of a database may go back, so the entries of a
// month need not be contiguous in a journal: its archive takes all entries up to the highest number in the month, and
// the rest of a block that is cut there, regardless of their dates. So the archived entries of a month show which
// entries are left.

type Prisma = Database['prisma']

const BATCH_SIZE = 500

export interface MovedWallet {
  project: string
  /** Newest entry of the month. */
  last: bigint
  /** Entry up to which its usage is rolled up. */
  rolledUp: bigint
  /** Time since which windows may still be needed, by lineage or budget. */
  meters: Map<string, Date>
}

/** Yields wallets in the order of their ids. */
export async function* walletsOfMonth(prisma: Prisma, month: Month): AsyncGenerator<MovedWallet> {
  for (let project = ''; ;) {
    const rows = await readWallets(prisma, month, project)
    for (const { meters, ...wallet } of rows) {
      const starts = JSON.parse(meters) as [string, string][]
      yield { ...wallet, meters: new Map(starts.map(([lineage, start]) => [lineage, new Date(start)])) }
    }
    if (rows.length < BATCH_SIZE) return
    project = rows.at(-1)!.project
  }
}

/** Finds each project of a table in the month by one probe of an index. */
const projectsIn = (table: string) => `
  WITH RECURSIVE each AS (
    (SELECT project FROM money.${table} WHERE project > $3 AND at >= $1 AND at < $2 ORDER BY project LIMIT 1)
    UNION ALL
    SELECT n.project FROM each CROSS JOIN LATERAL (
      SELECT project FROM money.${table} WHERE project > each.project AND at >= $1 AND at < $2 ORDER BY project LIMIT 1) n
  ) SELECT project FROM each LIMIT ${BATCH_SIZE}`

function readWallets(prisma: Prisma, month: Month, after: string) {
  return prisma.$queryRawUnsafe<(Omit<MovedWallet, 'meters'> & { meters: string })[]>(
    `WITH moved AS MATERIALIZED (
       SELECT project FROM ((${projectsIn('journal')}) UNION (${projectsIn('journal_blocks')})) p ORDER BY project LIMIT ${BATCH_SIZE})
     SELECT m.project,
            coalesce((SELECT min(last_seq) FROM money.journal_blocks b WHERE b.project = m.project AND b.last_seq >= h.seq),
                     h.seq) AS last,
            coalesce((SELECT u.seq FROM money.usage_positions u WHERE u.project = m.project), 0) AS "rolledUp",
            (SELECT coalesce(json_agg(json_build_array(t.lineage, t.window_start)), '[]')::text
               FROM (SELECT lineage, window_start FROM money.meters WHERE project = m.project
                     UNION ALL
                     SELECT b.id, b.window_start FROM money.budgets b JOIN control.projects p ON p.tenant = b.tenant
                      WHERE p.id = m.project) t) AS meters
       FROM moved m
       CROSS JOIN LATERAL (SELECT greatest(
         (SELECT seq FROM money.journal j
           WHERE j.project = m.project AND j.at >= $1 AND j.at < $2 ORDER BY seq DESC LIMIT 1),
         (SELECT last_seq FROM money.journal_blocks b
           WHERE b.project = m.project AND b.at >= $1 AND b.at < $2 ORDER BY last_seq DESC LIMIT 1)) AS seq) h
      ORDER BY m.project`,
    startOf(month),
    endOf(month),
    after,
  )
}
