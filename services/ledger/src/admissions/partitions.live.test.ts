import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished } from 'vitest'
import { checkBooks } from '../check/check-books.ts'
import { readRows } from '../executions/records/read-rows.ts'
import { openCountingSession } from '../fixtures/count-work.ts'
import { askToClose, insertExecution, insertNodes, nodeItem } from '../fixtures/execution-rows.ts'
import { test as tenantTest } from '../fixtures/ledger-test.ts'
import { runBatch } from './run-batch.ts'
import type { AdmissionItem, Batch, ClosingItem, Waiting } from './waiting-items.ts'

// Statements read only the partitions they need, however many exist. These tests create two years of them.

const PARTITION = /_(\d{8}|unplanned)$/

const test = tenantTest
  .extend('manyPartitions', { scope: 'file' }, async ({ fixture }) => {
    for (const table of ['attempts', 'journal', 'journal_blocks', 'executions', 'execution_nodes'])
      while ((await fixture.run(`SELECT money.make_partition($1, 730) AS made`, [table])).rows[0]?.['made']);
    const { rows } = await fixture.run(
      `SELECT array_agg(DISTINCT p.name) AS names
         FROM unnest(ARRAY['attempts', 'journal', 'journal_blocks', 'executions', 'execution_nodes']) t
         CROSS JOIN LATERAL (SELECT * FROM money.partition_periods(t, 0) LIMIT 1) p`,
    )
    return { current: new Set((rows[0] as { names: string[] }).names) }
  })
  .extend('session', async ({ database, manyPartitions }) => {
    expect(manyPartitions.current.size).toBe(5)
    const session = await openCountingSession(database.adminUrl)
    onTestFinished(session.close)
    return session
  })

function batchOf(admissions: AdmissionItem[], closings: ClosingItem[]): Batch {
  const waiting = <T>(item: T) => ({ item }) as Waiting & { item: T }
  return { admissions: admissions.map(waiting), closings: closings.map(waiting) }
}

const settle = (id: string): ClosingItem => ({
  op: 'settle',
  id,
  usage: { promptTokens: 1, completionTokens: 1, estimated: false },
  answer: null,
})

describe('with two years of partitions', () => {
  for (const keyed of [false, true]) {
    test(`a call ${keyed ? 'under an idempotency key ' : ''}is admitted, settled and repeated in the current partitions only`, async ({
      session,
      replica,
      tenant,
      manyPartitions,
    }) => {
      const items = Array.from({ length: 8 }, () =>
        replica.item(tenant.key, tenant.product, {
          idempotency: keyed ? { key: randomUUID(), fingerprint: 'a'.repeat(64) } : null,
        }),
      )
      const again = items.map((item) => (keyed ? { ...item, id: replica.item(tenant.key, tenant.product).id } : item))
      const codes: string[] = []
      const { tables } = await session.countAll(async ({ sql }) => {
        await runBatch(sql, batchOf(items, []), true)
        await runBatch(
          sql,
          batchOf(
            [],
            items.map(({ id }) => settle(id)),
          ),
          true,
        )
        await runBatch(
          sql,
          batchOf(
            [],
            items.map(({ id }) => settle(id)),
          ),
          true,
        )
        const { admissions } = await runBatch(sql, batchOf(again, []), true)
        codes.push(...admissions.map(({ code }) => code))
      })
      expect(new Set(codes)).toEqual(new Set([keyed ? 'replay' : 'closed']))
      expect([...tables].filter((table) => PARTITION.test(table) && !manyPartitions.current.has(table))).toEqual([])
      expect(tables.has([...manyPartitions.current].find((name) => name.startsWith('attempts'))!)).toBe(true)
    })
  }

  test('a call alone is admitted and settled in the current partitions only', async ({
    session,
    replica,
    tenant,
    manyPartitions,
  }) => {
    const item = replica.item(tenant.key, tenant.product)
    const { tables } = await session.countAll(async ({ sql }) => {
      await runBatch(sql, batchOf([item], []), false)
      const { closings } = await runBatch(sql, batchOf([], [settle(item.id)]), false)
      expect(closings[0]!.outcome).toBe('settled')
    })
    expect([...tables].filter((table) => PARTITION.test(table) && !manyPartitions.current.has(table))).toEqual([])
    expect(tables.has([...manyPartitions.current].find((name) => name.startsWith('attempts'))!)).toBe(true)
  })

  test('nodes are admitted, charged and read in the current partitions only', async ({
    session,
    replica,
    tenant,
    fixture,
    manyPartitions,
  }) => {
    const { id: project } = tenant.project
    const execution = await insertExecution(fixture, project, { key: tenant.key.id })
    const nodes = await insertNodes(fixture, { execution, project, count: 4 })
    const { tables } = await session.countAll(async ({ sql }) => {
      const items = nodes.map((node) => nodeItem(replica, node, tenant.product))
      await runBatch(sql, batchOf(items, []), true)
      await askToClose(
        sql,
        [project],
        nodes.map(({ reservation }) => ({ id: reservation, usage: { promptTokens: 1, completionTokens: 1 } })),
      )
      const rows = await readRows({ reads: { ...replica.reads, sql } }, execution, 'everything')
      expect(rows?.nodes.map(({ charged }) => charged)).toEqual([1n, 1n, 1n, 1n])
    })
    expect([...tables].filter((table) => PARTITION.test(table) && !manyPartitions.current.has(table))).toEqual([])
  })

  test('a check of the books continues an earlier one in the current partitions only', async ({
    session,
    replica,
    tenant,
    manyPartitions,
  }) => {
    const call = replica.item(tenant.key, tenant.product)
    await replica.admit(call)
    await checkBooks(replica.reads)
    await replica.settle(call.id)
    const { tables } = await session.countAll(async ({ prisma }) => {
      expect(await checkBooks({ prisma })).toEqual({ wallets: 1, findings: [] })
    })
    expect([...tables].filter((table) => PARTITION.test(table) && !manyPartitions.current.has(table))).toEqual([])
  })
})
