import { describe, expect } from 'vitest'
import type { Database } from '@gateway/database/client'
import { Client } from 'pg'
import { openShop, untilSomebodyWaits, walletOf } from '../shop.fixture.ts'
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
import { test as flowTest } from './flow-shop.fixture.ts'
import { chain, fan, oneCall } from './graphs.fixture.ts'

const test = flowTest
  .extend('holder', ({ engine }) => engine.newHolder())
  /** Begins a run of a graph in the shop's project. */
  .extend(
    'begin',
    ({ engine, shop, world }) =>
      async (graph: Parameters<typeof saveSandbox>[3]['graph'], on: Engine = engine) => {
        const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph })
        const asked = question(shop.key, sandbox)
        expect(await on.start(asked)).toMatchObject({ kind: 'started', execution: asked.id })
        return asked.id
      },
  )
  /** Admits the call of a claimed node, as its worker does. */
  .extend(
    'admit',
    ({ replica, holder, shop }) =>
      async ({ job, lease, claim }: Awaited<ReturnType<typeof takeNext>>) =>
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

const usage = (completionTokens: number) => ({ promptTokens: 1, completionTokens, estimated: false })

describe('a run', () => {
  test('goes through its nodes one after the other, and tells each step', async ({ engine, holder, begin }) => {
    const run = await begin(chain(1))
    const first = await takeNext(engine, holder, run)
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
    expect(await engine.record(run)).toMatchObject({ status: 'Running', completedAt: null })
    expect(await engine.complete(ending(first))).toEqual({ kind: 'completed' })
    const last = await takeNext(engine, holder, run)
    expect(last.claim.contract).toContain('"required":["text"]')
    await engine.complete(ending(last))

    expect(await engine.record(run)).toMatchObject({
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
    expect(engine.rings.filter((topic) => topic.endsWith(run))).toEqual([run, run, `done:${run}`])
  })

  test('whose output node got no value for what it must have fails [output_missing]', async ({
    engine,
    holder,
    begin,
  }) => {
    const run = await begin(chain(0))
    const only = await takeNext(engine, holder, run)
    await engine.complete(ending(only, { result: failing('output_missing') }))
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      error: { code: 'output_missing' },
      output: null,
    })
  })

  test('keeps what a node answered byte for byte', async ({ engine, holder, begin }) => {
    const run = await begin(chain(0))
    const output = '{ "text" : "ü\\u0000 \\ud800 spaces stay" }'
    await engine.complete(
      ending(await takeNext(engine, holder, run), { result: { kind: 'succeeded', output, ports: ['text'] } }),
    )
    const read = await engine.read({ caller: null, project: null, execution: run })
    expect('record' in read && read.record).toContain(`"output":${output},"error":null,"nodes"`)
  })
})

describe('a claim', () => {
  test('is asked again with its lease and answers the same; with another it gets nothing', async ({
    engine,
    twin,
    holder,
    begin,
  }) => {
    const run = await begin(chain(1))
    const { job, lease, claim } = await takeNext(engine, holder, run)
    const again = await twin.claim({ ...claimOf(job), lease, holder })
    expect({ ...again, remainingMs: 0 }).toEqual({ ...claim, remainingMs: 0 })
    expect(await twin.claim({ ...claimOf(job), lease: newLease(), holder })).toEqual({ kind: 'nothing-to-do' })
  })

  test('gets nothing of what is not ready, not known, or of an attempt before', async ({ engine, holder, begin }) => {
    const run = await begin(chain(1))
    const nothing = { kind: 'nothing-to-do' }
    const asked = { execution: run, node: 't0', attempt: 1, holder }
    expect(await engine.claim({ ...asked, node: 'out', lease: newLease() })).toEqual(nothing)
    expect(await engine.claim({ ...asked, node: 'nobody', lease: newLease() })).toEqual(nothing)
    expect(await engine.claim({ ...asked, execution: 'exe_none', lease: newLease() })).toEqual(nothing)
    await engine.complete(ending(await takeNext(engine, holder, run), { result: { kind: 'given-back' } }))
    expect(await engine.claim({ ...asked, lease: newLease() })).toEqual(nothing)
    expect((await takeNext(engine, holder, run)).claim.attempt).toBe(2)
  })

  test('of a holder that is not alive is told so, and takes nothing', async ({ engine, holder, begin }) => {
    const run = await begin(chain(1))
    const gone = await engine.newHolder()
    await engine.endHolder(gone)
    for (const unknown of [gone, 'hld_never'])
      expect(
        await engine.claim({ execution: run, node: 't0', attempt: 1, lease: newLease(), holder: unknown }),
      ).toEqual({
        kind: 'holder-unknown',
      })
    expect((await takeNext(engine, holder, run)).claim.attempt).toBe(1)
  })

  test('of one node by many at once is given to one', async ({ engine, twin, holder, begin }) => {
    const run = await begin(chain(1))
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 ? engine : twin).claim({ execution: run, node: 't0', attempt: 1, lease: newLease(), holder }),
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
    holder,
    begin,
  }) => {
    const run = await begin(chain(1))
    const taken = await takeNext(engine, holder, run)
    expect(await twin.complete(ending({ ...taken, lease: newLease() }))).toEqual({ kind: 'fenced' })
    const both = await Promise.all([engine.complete(ending(taken)), twin.complete(ending(taken))])
    expect(both).toEqual([{ kind: 'completed' }, { kind: 'completed' }])
    expect(await engine.complete(ending(taken, { result: failing() }))).toEqual({ kind: 'completed' })
    expect(await engine.complete({ ...ending(taken), execution: 'exe_none' })).toEqual({ kind: 'fenced' })
    expect((await engine.record(run)).nodes[1]).toMatchObject({ status: 'Succeeded', output: { text: 'by t0' } })
    await engine.complete(ending(await takeNext(twin.jobs.length > 0 ? twin : engine, holder, run)))
    expect(await engine.record(run)).toMatchObject({ status: 'Succeeded' })
  })

  test('of two siblings at once on two replicas never strands what waits for both', async ({
    engine,
    twin,
    holder,
    begin,
    shop,
  }) => {
    for (let n = 0; n < 20; n++) {
      const run = await begin(fan([shop.product, shop.product]))
      const [one, other] = [await takeNext(engine, holder, run), await takeNext(engine, holder, run)]
      await Promise.all([engine.complete(ending(one)), twin.complete(ending(other))])
      const jobs = [...engine.jobs, ...twin.jobs].filter(({ execution }) => execution === run)
      expect(jobs.map(({ node }) => node)).toEqual(['all'])
    }
  })

  test('of a paid call charges its usage in the same transaction, once', async ({
    engine,
    twin,
    replica,
    holder,
    begin,
    admit,
    shop,
  }) => {
    const run = await begin(oneCall(shop.product))
    const taken = await takeNext(engine, holder, run)
    expect(taken.claim.callReservation).toBe(taken.claim.callId)
    expect((await admit(taken)).kind).toBe('admitted')
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 100n })
    expect(await engine.record(run)).toMatchObject({ chargedMicro: 0, childCalls: [taken.claim.callId] })
    await Promise.all([
      engine.complete(ending(taken, { usage: usage(42) })),
      twin.complete(ending(taken, { usage: usage(42) })),
    ])
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 42n })
    const record = await engine.record(run)
    expect(record).toMatchObject({ chargedMicro: 42, childCalls: [taken.claim.callId] })
    expect(record.nodes[1]).toMatchObject({ callId: taken.claim.callId, chargedMicro: 42 })
  })

  test('without usage gives the hold back', async ({ engine, replica, holder, begin, admit, shop }) => {
    const run = await begin(oneCall(shop.product))
    const taken = await takeNext(engine, holder, run)
    await admit(taken)
    await engine.complete(ending(taken, { result: failing() }))
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await engine.record(run)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      error: { code: 'provider_failed' },
    })
  })

  test('that is given back lets another attempt pay, under the same call', async ({
    engine,
    replica,
    holder,
    begin,
    admit,
    shop,
  }) => {
    const run = await begin(oneCall(shop.product))
    const first = await takeNext(engine, holder, run)
    await admit(first)
    await engine.complete(ending(first, { result: { kind: 'given-back' } }))
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n })
    const second = await takeNext(engine, holder, run)
    expect(second.claim).toMatchObject({
      attempt: 2,
      callId: first.claim.callId,
      callReservation: `${first.claim.callId}-2`,
    })
    expect((await admit(first)).kind).toBe('fenced')
    expect((await admit(second)).kind).toBe('admitted')
    await engine.complete(ending(second, { usage: usage(7) }))
    expect(await engine.record(run)).toMatchObject({ chargedMicro: 7, childCalls: [first.claim.callId] })
  })
})

describe('a run that begins to fail', () => {
  test('gives no node out any more, waits for those that run, and is Failed with what they were charged', async ({
    engine,
    replica,
    holder,
    begin,
    admit,
    shop,
  }) => {
    const run = await begin(fan([shop.product, shop.product, shop.product]))
    const [one, other] = [await takeNext(engine, holder, run), await takeNext(engine, holder, run)]
    await admit(other)
    await engine.complete(ending(one, { result: failing() }))
    expect(await engine.record(run)).toMatchObject({
      status: 'Running',
      error: { code: 'provider_failed' },
      completedAt: null,
    })
    expect(engine.rings).toContain(`end:${run}`)
    const third = engine.jobs.find(({ execution }) => execution === run)!
    expect(await engine.claim({ ...claimOf(third), lease: newLease(), holder })).toEqual({ kind: 'nothing-to-do' })
    await engine.complete(ending(other, { usage: usage(9) }))
    const record = await engine.record(run)
    expect(record).toMatchObject({ status: 'Failed', chargedMicro: 9, output: null })
    expect(record.nodes.map(({ status }) => status)).toEqual([
      'Succeeded',
      'Failed',
      'Succeeded',
      'Pending',
      'Pending',
      'Pending',
    ])
    expect(await walletOf(replica, shop.project.id)).toMatchObject({ reserved: 0n, settled: 9n })
    const { lines, done } = await engine.follow({ execution: run, after: 2 })
    expect(done).toBe(true)
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { seq: number }).seq),
    ).toEqual([3, 4])
  })

  test('takes a node that is given back as one that never ran', async ({ engine, holder, begin, shop }) => {
    const run = await begin(fan([shop.product, shop.product]))
    const [one, other] = [await takeNext(engine, holder, run), await takeNext(engine, holder, run)]
    await engine.complete(ending(one, { result: failing() }))
    await engine.complete(ending(other, { result: { kind: 'given-back' } }))
    expect((await engine.record(run)).nodes.map(({ status }) => status)).toEqual([
      'Succeeded',
      'Failed',
      'Pending',
      'Pending',
      'Pending',
    ])
    expect(await engine.record(run)).toMatchObject({ status: 'Failed' })
  })
})

describe('room', () => {
  test('is given to so many nodes of a project at once, those of the oldest runs first', async ({
    database,
    world,
    shop,
  }) => {
    const small = await openEngine(database.ledgerUrl, { nodesAtOnce: 3 })
    const holder = await small.newHolder()
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph: chain(1) })
    const runs: string[] = []
    for (let n = 0; n < 6; n++) {
      const asked = question(shop.key, sandbox)
      await small.start(asked)
      runs.push(asked.id)
    }
    expect(small.jobs.map(({ execution }) => execution)).toEqual(runs.slice(0, 3))
    const taken = await takeNext(small, holder, runs[1]!)
    await small.complete(ending(taken))
    // The run that is under way goes on before one that was not begun.
    expect(small.jobs.map(({ execution, node }) => [execution, node])).toEqual([
      [runs[0], 't0'],
      [runs[2], 't0'],
      [runs[1], 'out'],
    ])
    await small.complete(ending(await takeNext(small, holder, runs[1]!)))
    expect(small.jobs.at(-1)).toMatchObject({ execution: runs[3], node: 't0' })
    await small.close()
  })

  test('of one project is not taken by the crowd of another', async ({ database, world, shop }) => {
    const small = await openEngine(database.ledgerUrl, { nodesAtOnce: 4 })
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph: chain(1) })
    await Promise.all(Array.from({ length: 200 }, () => small.start(question(shop.key, sandbox))))
    expect(small.jobs).toHaveLength(4)
    const other = await openShop(world)
    const theirs = await saveSandbox(world, other.project.id, other.owners.owner, { graph: chain(1) })
    const asked = question(other.key, theirs)
    await small.start(asked)
    expect(small.jobs).toHaveLength(5)
    expect(small.jobs[4]).toMatchObject({ execution: asked.id })
    await small.close()
  })
})

describe('the lane', () => {
  test('lets other runs go on while somebody holds a wallet, and then charges', async ({
    database,
    world,
    engine,
    holder,
    begin,
    admit,
    shop,
  }) => {
    const run = await begin(oneCall(shop.product))
    const taken = await takeNext(engine, holder, run)
    await admit(taken)
    const free = await openShop(world)
    const sandbox = await saveSandbox(world, free.project.id, free.owners.owner, { graph: chain(0) })
    const asked = question(free.key, sandbox)
    await engine.start(asked)
    const other = await takeNext(engine, holder, asked.id)

    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [shop.project.id])
    const charging = engine.complete(ending(taken, { usage: usage(5) }))
    await untilSomebodyWaits(world, charging)
    expect(await engine.complete(ending(other))).toEqual({ kind: 'completed' })
    await holding.query('COMMIT')
    await holding.end()
    expect(await charging).toEqual({ kind: 'completed' })
    expect(await engine.record(run)).toMatchObject({ chargedMicro: 5 })
  })

  test('decides anew what has changed since it was read, and locks what changes again and again', async ({
    database,
    engine,
    world,
    holder,
    begin,
    shop,
  }) => {
    const run = await begin(fan(Array.from({ length: 4 }, () => shop.product)))
    const taken = await takeNext(engine, holder, run)
    let changed = 0
    const meddled = await openEngine(database.ledgerUrl, {
      around: (inner) =>
        intercept(inner, async (sql, ask) => {
          const answer = await ask()
          // Between reading and writing somebody else decides about the run; but not under its lock.
          if (sql.includes('read_runs_v1') && changed++ < 3)
            await world.run('UPDATE money.executions SET version = version + 1 WHERE id = $1', [run])
          return answer
        }),
    })
    expect(await meddled.complete(ending(taken))).toEqual({ kind: 'completed' })
    expect(changed).toBe(3) // then it was locked, and read under that lock
    expect((await engine.record(run)).nodes[1]).toMatchObject({ status: 'Succeeded' })
    await meddled.close()
  })

  test('asks again after a lost connection: everything is decided once', async ({
    database,
    engine,
    holder,
    begin,
    admit,
    shop,
  }) => {
    let lost = 0
    const dying = await openEngine(database.ledgerUrl, {
      around: (inner) =>
        intercept(inner, async (sql, ask) => {
          const answer = await ask()
          // The batch is written, and its answer never arrives.
          if (sql.includes('write_runs_v1') && lost++ === 0)
            throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
          return answer
        }),
    })
    const run = await begin(oneCall(shop.product))
    const taken = await takeNext(engine, holder, run)
    await admit(taken)
    expect(await dying.complete(ending(taken, { usage: usage(11) }))).toEqual({ kind: 'completed' })
    expect(lost).toBe(1)
    expect(await engine.record(run)).toMatchObject({ chargedMicro: 11 })
    await engine.ringAgain() // what that batch rang for was lost with its answer
    await engine.complete(ending(await takeNext(engine, holder, run)))
    expect(await engine.record(run)).toMatchObject({ status: 'Succeeded', chargedMicro: 11 })
    await dying.close()
  })

  test('sets a poisoned item aside, and decides the others of its batch', async ({ database, holder, begin }) => {
    const lane = await openEngine(database.ledgerUrl)
    const runs = [await begin(chain(1), lane), await begin(chain(1), lane)]
    const claims = runs.map((execution) => lane.claim({ execution, node: 't0', attempt: 1, lease: newLease(), holder }))
    const bad = lane.claim({ execution: 'exe_\u0000', node: 't0', attempt: 1, lease: newLease(), holder })
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
