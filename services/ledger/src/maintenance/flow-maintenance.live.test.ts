import { describe, expect } from 'vitest'
import {
  claimOf,
  ending,
  failing,
  newLease,
  openEngine,
  question,
  saveSandbox,
  takeNext,
  type Taken,
} from '../flows/engine.fixture.ts'
import { test as flowTest } from '../flows/flow-tenant.fixture.ts'
import { chain, fan, oneCall } from '../flows/graphs.fixture.ts'
import { findingsOf, walletOf } from '../tenant.fixture.ts'
import { forgetOld } from './retention-cleaner.ts'

const test = flowTest
  .extend('begin', ({ engine, tenant, fixture }) => async (graph: Parameters<typeof saveSandbox>[3]['graph']) => {
    const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph })
    const asked = question(tenant.key, sandbox)
    await engine.start(asked)
    return asked.id
  })
  .extend(
    'admit',
    ({ replica, tenant }) =>
      async (instance: string, { job, lease, claim }: Taken) =>
        replica.admissionBatcher.submit(
          {
            op: 'admit-node',
            id: claim.callReservation,
            execution: job.execution,
            node: job.node,
            lease,
            instance,
            model: tenant.product,
            parameters: [],
            promptSize: { bytes: 10, messages: 1, tools: 0, images: 0, counted: null, maxTokens: 100 },
          },
          10_000,
        ),
  )
  /** A run's deadline is over by this moment. */
  .extend(
    'passDeadline',
    ({ fixture }) =>
      (execution: string) =>
        fixture.run(
          `UPDATE money.executions SET deadline_at = now() - interval '1 second', version = version + 1 WHERE id = $1`,
          [execution],
        ),
  )

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

describe('a node whose instance has ended', () => {
  test('is taken back with its hold released, and charged once by whoever runs it again', async ({
    engine,
    replica,
    tenant,
    begin,
    admit,
  }) => {
    const [dead, living] = [await engine.newInstance(), await engine.newInstance()]
    const execution = await begin(oneCall(tenant.product))
    const first = await takeNext(engine, dead, execution)
    await admit(dead, first)
    await engine.reclaim()
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Running' }) // it lives
    await engine.endInstance(dead)
    await engine.reclaim()
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Pending' })

    const second = await takeNext(engine, living, execution)
    expect(second.claim).toMatchObject({ attempt: 2, callId: first.claim.callId })
    await admit(living, second)
    expect(await engine.complete(ending(first, { usage }))).toEqual({ kind: 'fenced' })
    await engine.complete(ending(second, { usage }))
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 20 })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 20n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('five times is given up [node_failed]; what was given back is no death', async ({ engine, begin }) => {
    const execution = await begin(chain(1))
    const patient = await engine.newInstance()
    for (let n = 0; n < 5; n++)
      await engine.complete(ending(await takeNext(engine, patient, execution), { result: { kind: 'given-back' } }))
    for (let n = 1; n <= 5; n++) {
      expect(await engine.record(execution)).toMatchObject({ status: 'Running' })
      const instance = await engine.newInstance()
      const { claim } = await takeNext(engine, instance, execution)
      expect(claim.attempt).toBe(5 + n)
      await engine.endInstance(instance)
      await engine.reclaim()
    }
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      error: { code: 'node_failed', message: expect.stringContaining('t0') as string },
      nodes: [{}, { status: 'Failed', error: { code: 'node_failed' } }, { status: 'Pending' }],
    })
  })

  test('in a run that is failing lets the run end', async ({ engine, tenant, begin, admit, replica }) => {
    const [dead, living] = [await engine.newInstance(), await engine.newInstance()]
    const execution = await begin(fan([tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, living, execution), await takeNext(engine, dead, execution)]
    await admit(dead, other)
    await engine.complete(ending(one, { result: failing() }))
    await engine.endInstance(dead)
    await engine.reclaim()
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      error: { code: 'provider_failed' },
    })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })
})

describe('an overdue run', () => {
  test('that nobody took up fails uncharged [execution_timeout]', async ({ engine, begin, passDeadline, fixture }) => {
    const execution = await begin(chain(1))
    const { rows } = await fixture.run('SELECT deadline_at - created_at AS waits FROM money.executions WHERE id = $1', [
      execution,
    ])
    expect(rows).toEqual([{ waits: { minutes: 15 } }])
    await engine.endOverdue()
    expect(await engine.record(execution)).toMatchObject({ status: 'Admitted' })
    await passDeadline(execution)
    const job = engine.jobs.find((job) => job.execution === execution)!
    const instance = await engine.newInstance()
    expect(await engine.claim({ ...claimOf(job), lease: newLease(), instance })).toEqual({ kind: 'nothing-to-do' })
    await engine.endOverdue()
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      startedAt: null,
      error: { code: 'execution_timeout', message: expect.stringContaining('No worker') as string },
    })
  })

  test('tells its workers, keeps what they still end, and fails with what was charged', async ({
    engine,
    tenant,
    begin,
    admit,
    passDeadline,
  }) => {
    const instance = await engine.newInstance()
    const execution = await begin(fan([tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
    await admit(instance, one)
    await admit(instance, other)
    await engine.complete(ending(one, { usage }))
    await passDeadline(execution)
    engine.rings.length = 0
    await engine.endOverdue()
    expect(engine.rings).toContain(`end:${execution}`)
    expect(await engine.record(execution)).toMatchObject({ status: 'Running', error: { code: 'execution_timeout' } })
    engine.rings.length = 0
    await engine.endOverdue() // rings again, and waits
    expect(engine.rings).toEqual([`end:${execution}`])
    await engine.complete(ending(other, { usage }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 40,
      error: { code: 'execution_timeout' },
    })
  })

  test('ends the nodes that still run when their time is over too, and holds nothing', async ({
    engine,
    replica,
    tenant,
    begin,
    admit,
    passDeadline,
  }) => {
    const instance = await engine.newInstance()
    const execution = await begin(oneCall(tenant.product))
    const stuck = await takeNext(engine, instance, execution)
    await admit(instance, stuck)
    await passDeadline(execution)
    await engine.endOverdue()
    expect(await engine.record(execution)).toMatchObject({ status: 'Running' })
    await passDeadline(execution)
    await engine.endOverdue()
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      nodes: [{}, { status: 'Failed', error: { code: 'execution_timeout' } }, {}],
    })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await engine.complete(ending(stuck, { usage }))).toEqual({ kind: 'fenced' })
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 0 })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })
})

describe('what the queue has lost', () => {
  test('is requeued under the same job, until a worker takes it up', async ({ engine, begin }) => {
    const execution = await begin(chain(1))
    const mine = () => engine.jobs.filter((job) => job.execution === execution)
    const [first] = mine()
    engine.jobs.length = 0 // as if Redis was flushed
    await engine.requeueLostJobs()
    expect(mine()).toEqual([first])
    await takeNext(engine, await engine.newInstance(), execution)
    await engine.requeueLostJobs()
    expect(mine()).toEqual([])
  })

  test('is left alone for as long as a worker may take', async ({ database, fixture, tenant }) => {
    const slow = await openEngine(database.ledgerUrl, { lateMs: 60_000 })
    const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    await slow.start(question(tenant.key, sandbox))
    slow.jobs.length = 0
    await slow.requeueLostJobs()
    expect(slow.jobs).toEqual([])
    await slow.close()
  })

  test('carries the trace of whoever began the run', async ({ engine, tenant, fixture }) => {
    const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=y' }
    const asked = question(tenant.key, sandbox, { trace })
    await engine.start(asked)
    const job = { execution: asked.id, node: 't0', attempt: 1, trace }
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
    engine.jobs.length = 0
    await engine.requeueLostJobs()
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
  })

  test('and what never was enqueued is found when there is room', async ({ database, fixture, tenant }) => {
    const small = await openEngine(database.ledgerUrl, { nodesAtOnce: 1 })
    const large = await openEngine(database.ledgerUrl)
    const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
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

describe('a run whose retention is over', () => {
  test('is forgotten with its nodes; what it was charged stays', async ({
    engine,
    replica,
    tenant,
    begin,
    admit,
    fixture,
  }) => {
    const instance = await engine.newInstance()
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(instance, taken)
    await engine.complete(ending(taken, { usage }))
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    const open = await begin(chain(0))
    await fixture.run(`UPDATE money.executions SET completed_at = completed_at - interval '29 days' WHERE id = $1`, [
      execution,
    ])
    await forgetOld(replica.reads)()
    expect((await engine.record(execution)).chargedMicro).toBe(20)
    await fixture.run(`UPDATE money.executions SET completed_at = completed_at - interval '2 days' WHERE id = $1`, [
      execution,
    ])
    await forgetOld(replica.reads)()
    await expect(engine.record(execution)).rejects.toThrow('execution_not_found')
    const left = await fixture.run(
      `SELECT (SELECT count(*)::int FROM money.execution_nodes WHERE execution = $1) AS nodes,
              (SELECT sum(charged_micro)::int FROM money.attempts WHERE execution = $1) AS charged`,
      [execution],
    )
    expect(left.rows).toEqual([{ nodes: 0, charged: 20 }])
    expect(await engine.record(open)).toMatchObject({ status: 'Admitted' })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })
})
