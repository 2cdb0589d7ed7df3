import { describe, expect } from 'vitest'
import { openEngine, question, takeNext } from '../fixtures/engine.ts'
import { test } from '../fixtures/ledger-test.ts'
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
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=y' }
    const asked = question(tenant.key, sandbox, { trace })
    await engine.start(asked)
    const job = { execution: asked.id, node: 't0', attempt: 1, trace }
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
    engine.jobs.length = 0
    await engine.requeueLostJobs()
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
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
