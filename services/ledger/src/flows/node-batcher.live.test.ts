import { describe, expect } from 'vitest'
import type { Database } from '@gateway/database/client'
import { Client } from 'pg'
import { openTenant, untilSomebodyWaits, walletOf } from '../tenant.fixture.ts'
import {
  claimOf,
  ending,
  failing,
  newLease,
  openEngine,
  question,
  saveSandbox,
  takeNext,
  type Engine,
} from './engine.fixture.ts'
import { test as flowTest } from './flow-tenant.fixture.ts'
import { chain, fan, oneCall } from './graphs.fixture.ts'

const test = flowTest
  .extend('instance', ({ engine }) => engine.newInstance())
  /** Begins a run of a graph in the shop's project. */
  .extend(
    'begin',
    ({ engine, tenant, fixture }) =>
      async (graph: Parameters<typeof saveSandbox>[3]['graph'], on: Engine = engine) => {
        const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph })
        const asked = question(tenant.key, sandbox)
        expect(await on.start(asked)).toMatchObject({ kind: 'started', execution: asked.id })
        return asked.id
      },
  )
  /** Admits the call of a claimed node, as its worker does. */
  .extend(
    'admit',
    ({ replica, instance, tenant }) =>
      async ({ job, lease, claim }: Awaited<ReturnType<typeof takeNext>>) =>
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

const usage = (completionTokens: number) => ({ promptTokens: 1, completionTokens, estimated: false })

describe('a run', () => {
  test('goes through its nodes one after the other, and tells each step', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(1))
    const first = await takeNext(engine, instance, execution)
    expect(first.claim).toEqual({
      kind: 'claimed',
      project: expect.any(String) as string,
      node: { id: 't0', kind: 'template', template: '{{ text }}' },
      sources: { text: [['in', 'text']] },
      outputs: { in: '{"text":"a question"}' },
      contract: null,
      remainingMs: 300_000,
      attempt: 1,
      callId: '',
      callReservation: '',
    })
    expect(await engine.record(execution)).toMatchObject({ status: 'Running', completedAt: null })
    expect(await engine.complete(ending(first))).toEqual({ kind: 'completed' })
    const last = await takeNext(engine, instance, execution)
    expect(last.claim.contract).toContain('"required":["text"]')
    await engine.complete(ending(last))

    expect(await engine.record(execution)).toMatchObject({
      status: 'Succeeded',
      output: { text: 'by out' },
      error: null,
      childCalls: [],
      chargedMicro: 0,
      nodes: [
        { id: 'in', status: 'Succeeded', durationMs: 0 },
        { id: 't0', status: 'Succeeded', durationMs: 3, remoteMs: null, callId: null },
        { id: 'out', status: 'Succeeded' },
      ],
    })
    expect(engine.rings.filter((topic) => topic.endsWith(execution))).toEqual([
      execution,
      execution,
      `done:${execution}`,
    ])
  })

  test('whose output node got no value for what it must have fails [output_missing]', async ({
    engine,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(0))
    const only = await takeNext(engine, instance, execution)
    await engine.complete(ending(only, { result: failing('output_missing') }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      error: { code: 'output_missing' },
      output: null,
    })
  })

  test('keeps what a node answered byte for byte', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(0))
    const output = '{ "text" : "ü\\u0000 \\ud800 spaces stay" }'
    await engine.complete(
      ending(await takeNext(engine, instance, execution), { result: { kind: 'succeeded', output, ports: ['text'] } }),
    )
    const read = await engine.read({ caller: null, project: null, execution: execution })
    expect('record' in read && read.record).toContain(`"output":${output},"error":null,"nodes"`)
  })
})

describe('a claim', () => {
  test('is asked again with its lease and answers the same; with another it gets nothing', async ({
    engine,
    twin,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const { job, lease, claim } = await takeNext(engine, instance, execution)
    const again = await twin.claim({ ...claimOf(job), lease, instance })
    expect({ ...again, remainingMs: 0 }).toEqual({ ...claim, remainingMs: 0 })
    expect(await twin.claim({ ...claimOf(job), lease: newLease(), instance })).toEqual({ kind: 'nothing-to-do' })
  })

  test('gets nothing of what is not ready, not known, or of an attempt before', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(1))
    const nothing = { kind: 'nothing-to-do' }
    const asked = { execution: execution, node: 't0', attempt: 1, instance }
    expect(await engine.claim({ ...asked, node: 'out', lease: newLease() })).toEqual(nothing)
    expect(await engine.claim({ ...asked, node: 'nobody', lease: newLease() })).toEqual(nothing)
    expect(await engine.claim({ ...asked, execution: 'exe_none', lease: newLease() })).toEqual(nothing)
    await engine.complete(ending(await takeNext(engine, instance, execution), { result: { kind: 'given-back' } }))
    expect(await engine.claim({ ...asked, lease: newLease() })).toEqual(nothing)
    expect((await takeNext(engine, instance, execution)).claim.attempt).toBe(2)
  })

  test('of an instance that is not alive is told so, and takes nothing', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(1))
    const gone = await engine.newInstance()
    await engine.endInstance(gone)
    for (const unknown of [gone, 'ins_never'])
      expect(
        await engine.claim({ execution: execution, node: 't0', attempt: 1, lease: newLease(), instance: unknown }),
      ).toEqual({
        kind: 'instance-unknown',
      })
    expect((await takeNext(engine, instance, execution)).claim.attempt).toBe(1)
  })

  test('of one node by many at once is given to one', async ({ engine, twin, instance, begin }) => {
    const execution = await begin(chain(1))
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 ? engine : twin).claim({ execution: execution, node: 't0', attempt: 1, lease: newLease(), instance }),
      ),
    )
    expect(outcomes.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'nothing-to-do')).toHaveLength(49)
  })
})

describe('a result', () => {
  test('is recorded once; told again it is the same, and under another lease it is fenced', async ({
    engine,
    twin,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const taken = await takeNext(engine, instance, execution)
    expect(await twin.complete(ending({ ...taken, lease: newLease() }))).toEqual({ kind: 'fenced' })
    const both = await Promise.all([engine.complete(ending(taken)), twin.complete(ending(taken))])
    expect(both).toEqual([{ kind: 'completed' }, { kind: 'completed' }])
    expect(await engine.complete(ending(taken, { result: failing() }))).toEqual({ kind: 'completed' })
    expect(await engine.complete({ ...ending(taken), execution: 'exe_none' })).toEqual({ kind: 'fenced' })
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Succeeded', output: { text: 'by t0' } })
    await engine.complete(ending(await takeNext(twin.jobs.length > 0 ? twin : engine, instance, execution)))
    expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded' })
  })

  test('of two siblings at once on two replicas never strands what waits for both', async ({
    engine,
    twin,
    instance,
    begin,
    tenant,
  }) => {
    for (let n = 0; n < 20; n++) {
      const execution = await begin(fan([tenant.product, tenant.product]))
      const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
      await Promise.all([engine.complete(ending(one)), twin.complete(ending(other))])
      const jobs = [...engine.jobs, ...twin.jobs].filter((job) => job.execution === execution)
      expect(jobs.map(({ node }) => node)).toEqual(['all'])
    }
  })

  test('of a paid call charges its usage in the same transaction, once', async ({
    engine,
    twin,
    replica,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    expect(taken.claim.callReservation).toBe(taken.claim.callId)
    expect((await admit(taken)).kind).toBe('admitted')
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 100n })
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 0, childCalls: [taken.claim.callId] })
    await Promise.all([
      engine.complete(ending(taken, { usage: usage(42) })),
      twin.complete(ending(taken, { usage: usage(42) })),
    ])
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 42n })
    const record = await engine.record(execution)
    expect(record).toMatchObject({ chargedMicro: 42, childCalls: [taken.claim.callId] })
    expect(record.nodes[1]).toMatchObject({ callId: taken.claim.callId, chargedMicro: 42 })
  })

  test('without usage gives the hold back', async ({ engine, replica, instance, begin, admit, tenant }) => {
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(taken)
    await engine.complete(ending(taken, { result: failing() }))
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      error: { code: 'provider_failed' },
    })
  })

  test('that is given back lets another attempt pay, under the same call', async ({
    engine,
    replica,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(oneCall(tenant.product))
    const first = await takeNext(engine, instance, execution)
    await admit(first)
    await engine.complete(ending(first, { result: { kind: 'given-back' } }))
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n })
    const second = await takeNext(engine, instance, execution)
    expect(second.claim).toMatchObject({
      attempt: 2,
      callId: first.claim.callId,
      callReservation: `${first.claim.callId}-2`,
    })
    expect((await admit(first)).kind).toBe('fenced')
    expect((await admit(second)).kind).toBe('admitted')
    await engine.complete(ending(second, { usage: usage(7) }))
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 7, childCalls: [first.claim.callId] })
  })
})

describe('a run that begins to fail', () => {
  test('gives no node out any more, waits for those that run, and is Failed with what they were charged', async ({
    engine,
    replica,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(fan([tenant.product, tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
    await admit(other)
    await engine.complete(ending(one, { result: failing() }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Running',
      error: { code: 'provider_failed' },
      completedAt: null,
    })
    expect(engine.rings).toContain(`end:${execution}`)
    const third = engine.jobs.find((job) => job.execution === execution)!
    expect(await engine.claim({ ...claimOf(third), lease: newLease(), instance })).toEqual({ kind: 'nothing-to-do' })
    await engine.complete(ending(other, { usage: usage(9) }))
    const record = await engine.record(execution)
    expect(record).toMatchObject({ status: 'Failed', chargedMicro: 9, output: null })
    expect(record.nodes.map(({ status }) => status)).toEqual([
      'Succeeded',
      'Failed',
      'Succeeded',
      'Pending',
      'Pending',
      'Pending',
    ])
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 9n })
    const { lines, done } = await engine.follow({ execution: execution, after: 2 })
    expect(done).toBe(true)
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { seq: number }).seq),
    ).toEqual([3, 4])
  })

  test('takes a node that is given back as one that never ran', async ({ engine, instance, begin, tenant }) => {
    const execution = await begin(fan([tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
    await engine.complete(ending(one, { result: failing() }))
    await engine.complete(ending(other, { result: { kind: 'given-back' } }))
    expect((await engine.record(execution)).nodes.map(({ status }) => status)).toEqual([
      'Succeeded',
      'Failed',
      'Pending',
      'Pending',
      'Pending',
    ])
    expect(await engine.record(execution)).toMatchObject({ status: 'Failed' })
  })
})

describe('room', () => {
  test('is given to so many nodes of a project at once, those of the oldest runs first', async ({
    database,
    fixture,
    tenant,
  }) => {
    const small = await openEngine(database.ledgerUrl, { nodesAtOnce: 3 })
    const instance = await small.newInstance()
    const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const executions: string[] = []
    for (let n = 0; n < 6; n++) {
      const asked = question(tenant.key, sandbox)
      await small.start(asked)
      executions.push(asked.id)
    }
    expect(small.jobs.map(({ execution }) => execution)).toEqual(executions.slice(0, 3))
    const taken = await takeNext(small, instance, executions[1]!)
    await small.complete(ending(taken))
    // The run that is under way goes on before one that was not begun.
    expect(small.jobs.map(({ execution, node }) => [execution, node])).toEqual([
      [executions[0], 't0'],
      [executions[2], 't0'],
      [executions[1], 'out'],
    ])
    await small.complete(ending(await takeNext(small, instance, executions[1]!)))
    expect(small.jobs.at(-1)).toMatchObject({ execution: executions[3], node: 't0' })
    await small.close()
  })

  test('of one project is not taken by the crowd of another', async ({ database, fixture, tenant }) => {
    const small = await openEngine(database.ledgerUrl, { nodesAtOnce: 4 })
    const sandbox = await saveSandbox(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    await Promise.all(Array.from({ length: 200 }, () => small.start(question(tenant.key, sandbox))))
    expect(small.jobs).toHaveLength(4)
    const other = await openTenant(fixture)
    const theirs = await saveSandbox(fixture, other.project.id, other.owners.owner, { graph: chain(1) })
    const asked = question(other.key, theirs)
    await small.start(asked)
    expect(small.jobs).toHaveLength(5)
    expect(small.jobs[4]).toMatchObject({ execution: asked.id })
    await small.close()
  })
})

describe('the batcher', () => {
  test('lets other runs go on while somebody holds a wallet, and then charges', async ({
    database,
    fixture,
    engine,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(taken)
    const free = await openTenant(fixture)
    const sandbox = await saveSandbox(fixture, free.project.id, free.owners.owner, { graph: chain(0) })
    const asked = question(free.key, sandbox)
    await engine.start(asked)
    const other = await takeNext(engine, instance, asked.id)

    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    const charging = engine.complete(ending(taken, { usage: usage(5) }))
    await untilSomebodyWaits(fixture, charging)
    expect(await engine.complete(ending(other))).toEqual({ kind: 'completed' })
    await holding.query('COMMIT')
    await holding.end()
    expect(await charging).toEqual({ kind: 'completed' })
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 5 })
  })

  test('decides anew what has changed since it was read, and locks what changes again and again', async ({
    database,
    engine,
    fixture,
    instance,
    begin,
    tenant,
  }) => {
    const execution = await begin(fan(Array.from({ length: 4 }, () => tenant.product)))
    const taken = await takeNext(engine, instance, execution)
    let changed = 0
    const meddled = await openEngine(database.ledgerUrl, {
      around: (inner) =>
        intercept(inner, async (sql, ask) => {
          const answer = await ask()
          // Between reading and writing somebody else decides about the run; but not under its lock.
          if (sql.includes('read_executions_v1') && changed++ < 3)
            await fixture.run('UPDATE money.executions SET version = version + 1 WHERE id = $1', [execution])
          return answer
        }),
    })
    expect(await meddled.complete(ending(taken))).toEqual({ kind: 'completed' })
    expect(changed).toBe(3) // then it was locked, and read under that lock
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Succeeded' })
    await meddled.close()
  })

  test('asks again after a lost connection: everything is decided once', async ({
    database,
    engine,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    let lost = 0
    const dying = await openEngine(database.ledgerUrl, {
      around: (inner) =>
        intercept(inner, async (sql, ask) => {
          const answer = await ask()
          // The batch is written, and its answer never arrives.
          if (sql.includes('write_executions_v1') && lost++ === 0)
            throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
          return answer
        }),
    })
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(taken)
    expect(await dying.complete(ending(taken, { usage: usage(11) }))).toEqual({ kind: 'completed' })
    expect(lost).toBe(1)
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 11 })
    await engine.requeueLostJobs() // what that batch rang for was lost with its answer
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded', chargedMicro: 11 })
    await dying.close()
  })

  test('sets a poisoned item aside, and decides the others of its batch', async ({ database, instance, begin }) => {
    const lane = await openEngine(database.ledgerUrl)
    const executions = [await begin(chain(1), lane), await begin(chain(1), lane)]
    const claims = executions.map((execution) =>
      lane.claim({ execution, node: 't0', attempt: 1, lease: newLease(), instance }),
    )
    const bad = lane.claim({ execution: 'exe_\u0000', node: 't0', attempt: 1, lease: newLease(), instance })
    expect((await Promise.all(claims)).map(({ kind }) => kind)).toEqual(['claimed', 'claimed'])
    expect(await bad).toEqual({ kind: 'undecided', why: 'unavailable' })
    expect(lane.setAside).toHaveLength(1)
    await lane.close()
  })
})

/** A database whose statements pass by a test first. */
function intercept(
  inner: Database,
  around: (sql: string, ask: () => Promise<unknown>) => Promise<unknown>,
): Pick<Database, 'prisma'> {
  const prisma = new Proxy(inner.prisma, {
    get: (target, name) =>
      name === '$queryRawUnsafe'
        ? (sql: string, ...values: unknown[]) => around(sql, () => target.$queryRawUnsafe(sql, ...values))
        : (Reflect.get(target, name) as unknown),
  })
  return { prisma }
}
