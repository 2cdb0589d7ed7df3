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
import { test as flowTest } from '../flows/flow-shop.fixture.ts'
import { chain, fan, oneCall } from '../flows/graphs.fixture.ts'
import { findingsOf, walletOf } from '../shop.fixture.ts'
import { forgetOld } from './forget-old.ts'

const test = flowTest
  .extend('begin', ({ engine, shop, world }) => async (graph: Parameters<typeof saveSandbox>[3]['graph']) => {
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph })
    const asked = question(shop.key, sandbox)
    await engine.start(asked)
    return asked.id
  })
  .extend(
    'admit',
    ({ replica, shop }) =>
      async (holder: string, { job, lease, claim }: Taken) =>
        replica.lanes.submit(
          {
            op: 'admit-node',
            id: claim.callReservation,
            execution: job.execution,
            node: job.node,
            lease,
            holder,
            model: shop.product,
            parameters: [],
            measures: { bytes: 10, messages: 1, tools: 0, images: 0, counted: null, maxTokens: 100 },
          },
          10_000,
        ),
  )
  /** A run's deadline is over by this moment. */
  .extend(
    'passDeadline',
    ({ world }) =>
      (run: string) =>
        world.run(
          `UPDATE money.executions SET deadline_at = now() - interval '1 second', version = version + 1 WHERE id = $1`,
          [run],
        ),
  )

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

describe('a node whose holder has ended', () => {
  test('is taken back with its hold released, and charged once by whoever runs it again', async ({
    engine,
    replica,
    shop,
    begin,
    admit,
  }) => {
    const [dead, living] = [await engine.newHolder(), await engine.newHolder()]
    const run = await begin(oneCall(shop.product))
    const first = await takeNext(engine, dead, run)
    await admit(dead, first)
    await engine.reclaim()
    expect((await engine.record(run)).nodes[1]).toMatchObject({ status: 'Running' }) // it lives
    await engine.endHolder(dead)
    await engine.reclaim()
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect((await engine.record(run)).nodes[1]).toMatchObject({ status: 'Pending' })

    const second = await takeNext(engine, living, run)
    expect(second.claim).toMatchObject({ attempt: 2, callId: first.claim.callId })
    await admit(living, second)
    expect(await engine.complete(ending(first, { usage }))).toEqual({ kind: 'fenced' })
    await engine.complete(ending(second, { usage }))
    expect(await engine.record(run)).toMatchObject({ chargedMicro: 20 })
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 20n })
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })

  test('five times is given up [node_failed]; what was given back is no death', async ({ engine, begin }) => {
    const run = await begin(chain(1))
    const patient = await engine.newHolder()
    for (let n = 0; n < 5; n++)
      await engine.complete(ending(await takeNext(engine, patient, run), { result: { kind: 'given-back' } }))
    for (let n = 1; n <= 5; n++) {
      expect(await engine.record(run)).toMatchObject({ status: 'Running' })
      const holder = await engine.newHolder()
      const { claim } = await takeNext(engine, holder, run)
      expect(claim.attempt).toBe(5 + n)
      await engine.endHolder(holder)
      await engine.reclaim()
    }
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      error: { code: 'node_failed', message: expect.stringContaining('t0') as string },
      nodes: [{}, { status: 'Failed', error: { code: 'node_failed' } }, { status: 'Pending' }],
    })
  })

  test('in a run that is failing lets the run end', async ({ engine, shop, begin, admit, replica }) => {
    const [dead, living] = [await engine.newHolder(), await engine.newHolder()]
    const run = await begin(fan([shop.product, shop.product]))
    const [one, other] = [await takeNext(engine, living, run), await takeNext(engine, dead, run)]
    await admit(dead, other)
    await engine.complete(ending(one, { result: failing() }))
    await engine.endHolder(dead)
    await engine.reclaim()
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      error: { code: 'provider_failed' },
    })
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })
})

describe('an overdue run', () => {
  test('that nobody took up fails uncharged [execution_timeout]', async ({ engine, begin, passDeadline, world }) => {
    const run = await begin(chain(1))
    const { rows } = await world.run('SELECT deadline_at - created_at AS waits FROM money.executions WHERE id = $1', [
      run,
    ])
    expect(rows).toEqual([{ waits: { minutes: 15 } }])
    await engine.endOverdue()
    expect(await engine.record(run)).toMatchObject({ status: 'Admitted' })
    await passDeadline(run)
    const job = engine.jobs.find(({ execution }) => execution === run)!
    const holder = await engine.newHolder()
    expect(await engine.claim({ ...claimOf(job), lease: newLease(), holder })).toEqual({ kind: 'nothing-to-do' })
    await engine.endOverdue()
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      startedAt: null,
      error: { code: 'execution_timeout', message: expect.stringContaining('No worker') as string },
    })
  })

  test('tells its workers, keeps what they still end, and fails with what was charged', async ({
    engine,
    shop,
    begin,
    admit,
    passDeadline,
  }) => {
    const holder = await engine.newHolder()
    const run = await begin(fan([shop.product, shop.product]))
    const [one, other] = [await takeNext(engine, holder, run), await takeNext(engine, holder, run)]
    await admit(holder, one)
    await admit(holder, other)
    await engine.complete(ending(one, { usage }))
    await passDeadline(run)
    engine.rings.length = 0
    await engine.endOverdue()
    expect(engine.rings).toContain(`end:${run}`)
    expect(await engine.record(run)).toMatchObject({ status: 'Running', error: { code: 'execution_timeout' } })
    engine.rings.length = 0
    await engine.endOverdue() // rings again, and waits
    expect(engine.rings).toEqual([`end:${run}`])
    await engine.complete(ending(other, { usage }))
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      chargedMicro: 40,
      error: { code: 'execution_timeout' },
    })
  })

  test('ends the nodes that still run when their time is over too, and holds nothing', async ({
    engine,
    replica,
    shop,
    begin,
    admit,
    passDeadline,
  }) => {
    const holder = await engine.newHolder()
    const run = await begin(oneCall(shop.product))
    const stuck = await takeNext(engine, holder, run)
    await admit(holder, stuck)
    await passDeadline(run)
    await engine.endOverdue()
    expect(await engine.record(run)).toMatchObject({ status: 'Running' })
    await passDeadline(run)
    await engine.endOverdue()
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      nodes: [{}, { status: 'Failed', error: { code: 'execution_timeout' } }, {}],
    })
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await engine.complete(ending(stuck, { usage }))).toEqual({ kind: 'fenced' })
    expect(await engine.record(run)).toMatchObject({ chargedMicro: 0 })
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })
})

describe('what the queue has lost', () => {
  test('is rung for again under the same job, until a worker takes it up', async ({ engine, begin }) => {
    const run = await begin(chain(1))
    const mine = () => engine.jobs.filter(({ execution }) => execution === run)
    const [first] = mine()
    engine.jobs.length = 0 // as if Redis was flushed
    await engine.ringAgain()
    expect(mine()).toEqual([first])
    await takeNext(engine, await engine.newHolder(), run)
    await engine.ringAgain()
    expect(mine()).toEqual([])
  })

  test('is left alone for as long as a worker may take', async ({ database, world, shop }) => {
    const slow = await openEngine(database.ledgerUrl, { lateMs: 60_000 })
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph: chain(1) })
    await slow.start(question(shop.key, sandbox))
    slow.jobs.length = 0
    await slow.ringAgain()
    expect(slow.jobs).toEqual([])
    await slow.close()
  })

  test('carries the trace of whoever began the run', async ({ engine, shop, world }) => {
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph: chain(1) })
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=y' }
    const asked = question(shop.key, sandbox, { trace })
    await engine.start(asked)
    const job = { execution: asked.id, node: 't0', attempt: 1, trace }
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
    engine.jobs.length = 0
    await engine.ringAgain()
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toEqual([job])
  })

  test('and what never was rung for is found when there is room', async ({ database, world, shop }) => {
    const small = await openEngine(database.ledgerUrl, { nodesAtOnce: 1 })
    const large = await openEngine(database.ledgerUrl)
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph: chain(1) })
    const runs = await Promise.all(
      [1, 2, 3].map(async () => {
        const asked = question(shop.key, sandbox)
        await small.start(asked)
        return asked.id
      }),
    )
    expect(small.jobs).toHaveLength(1)
    await large.ringAgain()
    expect(
      large.jobs
        .map(({ execution }) => execution)
        .filter((run) => runs.includes(run))
        .toSorted(),
    ).toEqual(runs.toSorted().slice(1))
    await small.close()
    await large.close()
  })
})

describe('a run whose retention is over', () => {
  test('is forgotten with its nodes; what it was charged stays', async ({
    engine,
    replica,
    shop,
    begin,
    admit,
    world,
  }) => {
    const holder = await engine.newHolder()
    const run = await begin(oneCall(shop.product))
    const taken = await takeNext(engine, holder, run)
    await admit(holder, taken)
    await engine.complete(ending(taken, { usage }))
    await engine.complete(ending(await takeNext(engine, holder, run)))
    const open = await begin(chain(0))
    await world.run(`UPDATE money.executions SET completed_at = completed_at - interval '29 days' WHERE id = $1`, [run])
    await forgetOld(replica.reads)()
    expect((await engine.record(run)).chargedMicro).toBe(20)
    await world.run(`UPDATE money.executions SET completed_at = completed_at - interval '2 days' WHERE id = $1`, [run])
    await forgetOld(replica.reads)()
    await expect(engine.record(run)).rejects.toThrow('execution_not_found')
    const left = await world.run(
      `SELECT (SELECT count(*)::int FROM money.execution_nodes WHERE execution = $1) AS nodes,
              (SELECT sum(charged_micro)::int FROM money.invocations WHERE execution = $1) AS charged`,
      [run],
    )
    expect(left.rows).toEqual([{ nodes: 0, charged: 20 }])
    expect(await engine.record(open)).toMatchObject({ status: 'Admitted' })
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })
})
