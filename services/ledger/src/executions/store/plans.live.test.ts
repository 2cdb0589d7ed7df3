import { Client } from 'pg'
import { expect, onTestFinished } from 'vitest'
import type { Database } from '@gateway/database/client'
import { claimOf, ending, newLease, openEngine, question } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { chain, publishProduct } from '../../fixtures/sandbox-products.ts'

// The cost of the engine's statements inside Postgres, counted instead of timed: it must not grow with the stored
// executions (F5 of write_executions).

interface PlanNode {
  'Actual Loops'?: number
  'Actual Rows'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

const SETTINGS = {
  log_min_duration: '0',
  log_nested_statements: 'on',
  log_analyze: 'on',
  log_timing: 'off',
  log_format: 'json',
  log_level: 'notice',
}

/** Opens a session that counts the rows each plan node of its statements returns or discards. */
async function openCountingSession(adminUrl: string) {
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  await client.query(`LOAD 'auto_explain'`)
  for (const [name, value] of Object.entries(SETTINGS)) await client.query(`SET auto_explain.${name} = '${value}'`)
  let rows = 0
  client.on('notice', ({ message = '' }) => {
    rows += rowsOf((JSON.parse(message.slice(message.indexOf('{'))) as { Plan: PlanNode }).Plan)
  })
  const query = async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows
  return {
    sql: { query } as unknown as Database['sql'],
    /** Rows touched since the previous call. */
    take(): number {
      const taken = rows
      rows = 0
      return taken
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

const MANY = 6_000
const SIZE = 16

ledgerTest(
  'starting an execution and running its nodes costs the same on empty and on full tables',
  async ({ database, fixture, tenant, engine }) => {
    await fixture.run('ANALYZE')
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const instance = await engine.newInstance()

    async function openCounted() {
      const session = await openCountingSession(database.adminUrl)
      const counted = await openEngine(database.ledgerUrl, {
        around: ({ prisma }) => ({ prisma, sql: session.sql }),
        maxConcurrentNodes: SIZE,
      })
      onTestFinished(async () => {
        await counted.close()
        await session.close()
      })

      /** Returns the rows touched per execution, by its start and by its nodes. */
      return async (): Promise<{ start: number; nodes: number }> => {
        const asked = Array.from({ length: SIZE }, () => question(tenant.key, sandbox))
        session.take()
        await Promise.all(asked.map((one) => counted.start(one)))
        const start = session.take()
        while (counted.jobs.length > 0)
          await Promise.all(
            counted.jobs.splice(0).map(async (job) => {
              const lease = newLease()
              await counted.claim({ ...claimOf(job), lease, instance })
              await counted.complete(ending({ job, lease }))
            }),
          )
        for (const { id } of asked) expect(await engine.record(id)).toMatchObject({ status: 'Succeeded' })
        return { start: start / SIZE, nodes: session.take() / SIZE }
      }
    }

    const early = await openCounted()
    await early() // plans every statement
    const empty = await early()
    await fillBooks()
    const full = [await early()]
    await fixture.run('ANALYZE')
    full.push(await early())
    const late = await openCounted()
    full.push(await late())
    for (const { start, nodes } of full) {
      expect(nodes).toBeLessThan(empty.nodes * 1.3)
      expect(start).toBeLessThan(empty.start * 1.3 + (3 * OPEN) / SIZE) // a batch counts a project's open ones once
    }

    /** Inserts ended and open executions of many projects, some of them of this project. */
    async function fillBooks(): Promise<void> {
      await fixture.run(
        `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, created_at, deadline_at, completed_at, output)
       SELECT 'exe_filler' || n, CASE WHEN n <= $1 THEN $2 ELSE 'prj_' || n % 500 END, $3, 1, 'usr', 'invoke',
              CASE WHEN n % 2 = 0 THEN 'Succeeded' ELSE 'Admitted' END, now(), now() + interval '1 hour', CASE WHEN n % 2 = 0 THEN now() END, '{}'
         FROM generate_series(1, $4::int) n`,
        [2 * OPEN, tenant.project.id, sandbox, MANY],
      )
      await fixture.run(
        `INSERT INTO money.execution_nodes (execution, ordinal, node, kind, project, sources, state, seq, ports, output, enqueued_at)
       SELECT e.id, o, 'n' || o, 'template', e.project, '{}', s.state, CASE WHEN s.state = 'Succeeded' THEN o END, '[]',
              CASE WHEN s.state = 'Succeeded' THEN '{}'::bytea END, CASE WHEN o = 0 THEN now() END
         FROM money.executions e CROSS JOIN generate_series(0, 3) o
         CROSS JOIN LATERAL (SELECT CASE WHEN e.completed_at IS NOT NULL THEN 'Succeeded'
                                         WHEN o = 0 AND e.project <> $1 THEN 'Ready' ELSE 'Pending' END AS state) s
        WHERE e.id LIKE 'exe_filler%'`,
        [tenant.project.id],
      )
    }
  },
)

/** Open executions of the project in addition to those that are counted. */
const OPEN = 100
