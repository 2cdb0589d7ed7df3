import type { Database } from '@gateway/database/client'
import { deriveAgain, type Finding, type Summed } from './fold-journal.ts'

// Checks the journal days, the source of statements, against the journal (money §9.5).
//   J1  The days contain every entry up to the position of the usage roll-up; together with the later entries they add
//       up to the wallet. Read in one statement, so in one snapshot.
//   J2  Each day is derived again from the entries, in steps, and days that differ are named. Days of archived months
//       were derived this way before their entries were dropped (money §9.4); J1 covers their sum.

/** How far a check goes: J1, or both. */
type Depth = 'sums' | 'days'

/** Checks the journal days of one project. Returns what does not add up. */
export async function checkJournalDays(
  { prisma }: Pick<Database, 'prisma'>,
  project: string,
  depth: Depth,
): Promise<Finding[]> {
  const [sums] = await prisma.$queryRaw<Sums[]>`
    SELECT coalesce(p.seq, 0) AS seq, d.*, w.funded - b.funded AS "isFunded", w.reserved - b.reserved AS "isReserved",
           w.settled - b.settled AS "isSettled"
      FROM money.wallets w
      LEFT JOIN money.usage_positions p ON p.project = w.project
      CROSS JOIN LATERAL (
        SELECT coalesce(-sum(outside), 0)::bigint AS funded, coalesce(sum(reserved), 0)::bigint AS reserved,
               coalesce(sum(settled), 0)::bigint AS settled
          FROM money.journal j
         WHERE j.project = ${project} AND j.seq > coalesce(p.seq, 0)
           AND j.at >= coalesce(p.at - interval '1 day', '-infinity')) b
      CROSS JOIN (
        SELECT coalesce(sum(entries), 0)::bigint AS entries, coalesce(-sum(outside), 0)::bigint AS funded,
               coalesce(sum(reserved), 0)::bigint AS reserved, coalesce(sum(settled), 0)::bigint AS settled
          FROM money.journal_days WHERE project = ${project}) d
     WHERE w.project = ${project}`
  if (!sums) return []
  const where = `journal days of ${project} up to entry ${sums.seq}`
  const pairs: [what: string, expectedMicro: bigint, foundMicro: bigint][] = [
    ['the journal days have a different number of entries', sums.seq, sums.entries],
    ['funded differs between journal days and wallet', sums.isFunded, sums.funded],
    ['reserved differs between journal days and wallet', sums.isReserved, sums.reserved],
    ['settled differs between journal days and wallet', sums.isSettled, sums.settled],
  ]
  const findings: Finding[] = pairs
    .filter(([, expected, found]) => expected !== found)
    .map(([what, expectedMicro, foundMicro]) => ({ what, where, expectedMicro, foundMicro }))
  if (depth === 'days') findings.push(...(await checkEach({ prisma }, project)))
  return findings
}

interface Sums {
  /** The last entry that the days contain. */
  seq: bigint
  entries: bigint
  funded: bigint
  reserved: bigint
  settled: bigint
  /** The balance of the wallet less the entries after `seq`. */
  isFunded: bigint
  isReserved: bigint
  isSettled: bigint
}

/** J2 */
async function checkEach({ prisma }: Pick<Database, 'prisma'>, project: string): Promise<Finding[]> {
  const { after, first } = await firstToDerive({ prisma }, project)
  const differing = await deriveAgain(
    {
      async read() {
        const [row] = await prisma.$queryRaw<[{ seq: bigint; rows: string }]>`
          SELECT coalesce((SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}), 0) AS seq,
                 (SELECT coalesce(json_agg(json_build_array(d.day || ' ' || d.kind || ' ' || d.product || ' ' || d.tag,
                           d.entries::text, d.reserved::text, d.settled::text, d.outside::text)), '[]')::text
                    FROM money.journal_days d
                   WHERE d.project = ${project} AND d.day >= ${first}::date AND d.kind <> 'opening') AS rows`
        const rows = (JSON.parse(row.rows) as string[][]).map(([name, ...figures]): Summed => ({
          name: name!,
          figures: figures.map(BigInt),
        }))
        return { seq: row.seq, rows }
      },
      async derive(from, last) {
        const rows = await prisma.$queryRaw<{ name: string; figures: bigint[] }[]>`
          SELECT (j.at AT TIME ZONE 'UTC')::date || ' ' || j.kind || ' ' || coalesce(v.product, '') || ' ' || coalesce(v.tag, '') AS name,
                 ARRAY[count(*), sum(j.reserved), sum(j.settled), sum(j.outside)]::bigint[] AS figures
            FROM money.journal j
            LEFT JOIN LATERAL (
              SELECT a.product, a.tag FROM money.attempts a WHERE j.kind = 'settle' AND a.id = j.reference LIMIT 1) v ON true
           WHERE j.project = ${project} AND j.seq > ${from} AND j.seq <= ${last} AND j.at >= ${first}
           GROUP BY 1`
        return rows
      },
    },
    after,
  )
  return differing.map(({ name, expected, found }) => ({
    what: `a journal day differs from its entries: expected ${formatRow(expected)}, found ${formatRow(found)}`,
    where: `journal day ${name.trim()}`,
    expectedMicro: moved(expected),
    foundMicro: moved(found),
  }))
}

function formatRow([entries, reserved, settled, outside]: bigint[]): string {
  return `${entries} entries (reserved ${reserved}, settled ${settled}, outside ${outside})`
}

/** Returns the amount funded or charged; a day of one kind has only one of them. */
function moved([, , settled = 0n, outside = 0n]: bigint[]): bigint {
  return settled - outside
}

/** Returns the newest archived entry, and the first day without archived entries. */
async function firstToDerive({ prisma }: Pick<Database, 'prisma'>, project: string) {
  const [row] = await prisma.$queryRaw<{ after: bigint; first: Date }[]>`
    SELECT seq AS after, date_trunc('day', greatest(month + interval '1 month', at + interval '1 day'), 'UTC') AS first
      FROM money.archived_wallets WHERE project = ${project}`
  return row ?? { after: 0n, first: new Date(0) }
}
