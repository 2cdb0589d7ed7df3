import { Client } from 'pg'
import type { Database } from '@gateway/database/client'
import { askToClose, type NodeClosing } from '../run.fixture.ts'
import { batchRunner } from './run-batch.ts'
import type { Batch } from './waiting-items.ts'

// What a batch costs inside Postgres, counted instead of timed: auto_explain tells of each statement in the function which
// rows its plan touched.

export interface Work {
  /** Rows that came out of a node of a plan or were thrown away by it, over all statements. */
  rows: number
  /** Pages looked at. */
  pages: number
}

interface PlanNode {
  'Actual Loops'?: number
  'Actual Rows'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: PlanNode[]
}

const SETTINGS = {
  log_min_duration: '0',
  log_nested_statements: 'on',
  log_analyze: 'on',
  log_timing: 'off',
  log_buffers: 'on',
  log_format: 'json',
  log_level: 'notice',
}

/** One session that runs batches and counts their work. Its plans are those of a ledger's session: they stay as first made. */
export async function openCountingSession(adminUrl: string) {
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  await client.query(`LOAD 'auto_explain'`)
  for (const [name, value] of Object.entries(SETTINGS)) await client.query(`SET auto_explain.${name} = '${value}'`)
  const work: Work = { rows: 0, pages: 0 }
  client.on('notice', ({ message = '' }) => {
    const { Plan } = JSON.parse(message.slice(message.indexOf('{'))) as { Plan: PlanNode }
    work.rows += rowsOf(Plan)
    work.pages += (Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0)
  })
  // Notices reach nobody through Prisma, so its one method that a batch needs is made on the plain connection.
  const prisma = {
    $queryRawUnsafe: async (sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows,
  } as unknown as Database['prisma']
  const perItem = (items: number): Work => ({ rows: work.rows / items, pages: work.pages / items })
  const run = batchRunner({ prisma })
  return {
    /** The work of one batch for each of its items, and what was decided. */
    async count(batch: Batch): Promise<{ perItem: Work; outcomes: Set<string> }> {
      Object.assign(work, { rows: 0, pages: 0 })
      const { admissions, closings } = await run(batch, true)
      return {
        perItem: perItem(batch.admissions.length + batch.closings.length),
        outcomes: new Set([...admissions, ...closings].map((row) => row[1])),
      }
    },
    /** The same of closings of nodes. */
    async countNodes(projects: string[], closings: NodeClosing[]): Promise<{ perItem: Work; outcomes: Set<string> }> {
      await client.query('BEGIN')
      await client.query('SELECT FROM money.wallets WHERE project = ANY ($1) FOR UPDATE', [projects])
      Object.assign(work, { rows: 0, pages: 0 })
      const closed = await askToClose(prisma, projects, closings)
      const counted = perItem(closings.length)
      await client.query('COMMIT')
      return { perItem: counted, outcomes: new Set(closed.map(({ outcome }) => outcome)) }
    },
    close: () => client.end(),
  }
}

function rowsOf(node: PlanNode): number {
  const each =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), each * (node['Actual Loops'] ?? 0))
}
