import { expect } from 'vitest'
import { Prisma, type PrismaClient } from '@gateway/database/client'

/**
 * Runs a query and fails if it reads more rows from large tables, including those it discards.
 * @param what it reads, for the message of a failure
 */
export async function expectRowsRead(
  prisma: PrismaClient,
  query: Prisma.Sql,
  { most, what }: { most: number; what: string },
): Promise<void> {
  const [row] = await prisma.$queryRaw<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
    Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`,
  )
  const { Plan: plan } = row['QUERY PLAN'][0]
  expect(rowsOf(plan), `${what}: ${JSON.stringify(plan)}`).toBeLessThanOrEqual(most)
}

interface PlanNode {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** Rows of a table that is small enough to be read whole: the partition of this month, with the rows of other tests. */
const SMALL_TABLE = 200

function rowsOf(node: PlanNode): number {
  const own = node['Node Type'].includes('Scan') && node['Node Type'] !== 'Subquery Scan'
  const taken =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const isSmallTable = node['Node Type'] === 'Seq Scan' && taken <= SMALL_TABLE
  const here = own && !isSmallTable ? taken * node['Actual Loops'] : 0
  return here + (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), 0)
}
