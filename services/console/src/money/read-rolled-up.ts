import { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'

export interface RolledUp {
  seq: bigint
  /** A day before the entry. */
  since: Date
}

/**
 * Returns the journal entry up to which a project is rolled up (money §9.2), and the time of the first entry after it.
 * A query re-reads the position in its own snapshot; this value only lets Postgres plan for the few entries after it.
 * Otherwise Postgres would scan the whole journal of a project that makes up most of the table.
 */
export async function readRolledUp(
  { prisma }: { prisma: Pick<ConsoleDeps['prisma'], '$queryRaw'> },
  project: string,
): Promise<RolledUp> {
  const [known] = await prisma.$queryRaw<RolledUp[]>`
    SELECT seq, at - interval '1 day' AS since FROM money.usage_positions WHERE project = ${project}`
  return known ?? { seq: 0n, since: new Date(0) }
}

/** More entries than a journal has. */
const MANY = 10n ** 15n

/**
 * Condition of an entry j that it is after the known position. Bounded at both ends: for a lower bound alone, a plan for any
 * value expects a third of the journal, and reads all of it.
 */
export function isAfter({ seq, since }: RolledUp): Prisma.Sql {
  return Prisma.sql`j.seq > ${seq} AND j.seq < ${seq + MANY} AND j.at >= ${since}`
}
