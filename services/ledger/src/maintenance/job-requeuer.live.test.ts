import { describe, expect } from 'vitest'
import { callFunction } from '@gateway/database/call-function'
import { openEngine, question, takeNext } from '../fixtures/engine.ts'
import { openTenant, test } from '../fixtures/ledger-test.ts'
import { chain, publishProduct } from '../fixtures/sandbox-products.ts'

describe('a node whose job the queue has lost', () => {
  test('is enqueued again as the same job until a worker claims it', async ({ engine, begin }) => {
    const execution = await begin(chain(1))
    const mine = () => engine.jobs.filter((job) => job.execution === execution)
    const [first] = mine()
    engine.jobs.length = 0 // as if Redis had been flushed
    await engine.requeueLostJobs()
    expect(mine()).toEqual([first])
    await takeNext(engine, await engine.newInstance(), execution)
    await engine.requeueLostJobs()
    expect(mine()).toEqual([])
  })

  test('is not enqueued again before a worker is overdue', async ({ database, fixture, tenant }) => {
    const slow = await openEngine(database.ledgerUrl, { lateMs: 60_000 })
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    await slow.start(question(tenant.key, sandbox))
    slow.jobs.length = 0
    await slow.requeueLostJobs()
    expect(slow.jobs).toEqual([])
    await slow.close()
  })

  test('is enqueued again with the trace of the request that started the execution', async ({
    engine,
    tenant,
    fixture,
  }) => {
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
    const asked = question(tenant.key, sandbox, { trace })
    await engine.start(asked)
    const job = { execution: asked.id, node: 't0', attempt: 1, trace }
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
    engine.jobs.length = 0
    await engine.requeueLostJobs()
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
  })

  test('is enqueued again in its turn if more are lost than one run takes', async ({ engine, fixture, tenant }) => {
    const other = await openTenant(fixture)
    const executions = await Promise.all(
      [tenant, other].map(async ({ project, owners, key }) => {
        const sandbox = await publishProduct(fixture, project.id, owners.owner, { graph: chain(1) })
        const asked = question(key, sandbox)
        await engine.start(asked)
        return asked.id
      }),
    )
    await fixture.run(
      `UPDATE money.execution_nodes
          SET enqueued_at = now() + CASE WHEN execution = ANY ($1) THEN interval '-1 minute' ELSE interval '1 hour' END
        WHERE enqueued_at IS NOT NULL`,
      [executions],
    )
    const requeued: string[] = []
    for (let turns = 0; turns < 2; turns++) {
      const row = await callFunction(engine.reads.sql, 'money.requeue_lost_nodes', {
        max_concurrent_nodes: 32,
        late_ms: 0,
        max_late: 1,
      })
      requeued.push(...(JSON.parse(row.jobs) as [execution: string][]).map(([execution]) => execution))
    }
    expect(requeued.toSorted()).toEqual(executions.toSorted())
  })

  test('is enqueued once there is room, if it never was', async ({ database, fixture, tenant }) => {
    const small = await openEngine(database.ledgerUrl, { maxConcurrentNodes: 1 })
    const large = await openEngine(database.ledgerUrl)
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const executions = await Promise.all(
      [1, 2, 3].map(async () => {
        const asked = question(tenant.key, sandbox)
        await small.start(asked)
        return asked.id
      }),
    )
    expect(small.jobs).toHaveLength(1)
    await large.requeueLostJobs()
    expect(
      large.jobs
        .map(({ execution }) => execution)
        .filter((execution) => executions.includes(execution))
        .toSorted(),
    ).toEqual(executions.toSorted().slice(1))
    await small.close()
    await large.close()
  })
})
