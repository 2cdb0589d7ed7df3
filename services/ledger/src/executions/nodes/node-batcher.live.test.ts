import { describe, expect } from 'vitest'
import type { Database, Sql } from '@gateway/database/client'
import { Client } from 'pg'
import { openTenant, untilBlocked } from '../../fixtures/ledger-test.ts'
import { ending, newLease, openEngine, question, takeNext } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { chain, fan, oneCall, publishProduct } from '../../fixtures/sandbox-products.ts'

const test = ledgerTest.extend('instance', ({ engine }) => engine.newInstance())

const usage = (completionTokens: number) => ({ promptTokens: 1, completionTokens, estimated: false })

describe('the limit of concurrent nodes', () => {
  test('gives places to the nodes of a project’s oldest executions first', async ({ database, fixture, tenant }) => {
    const small = await openEngine(database.ledgerUrl, { maxConcurrentNodes: 3 })
    const instance = await small.newInstance()
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const executions: string[] = []
    for (let n = 0; n < 6; n++) {
      const asked = question(tenant.key, sandbox)
      await small.start(asked)
      executions.push(asked.id)
    }
    expect(small.jobs.map(({ execution }) => execution)).toEqual(executions.slice(0, 3))
    const taken = await takeNext(small, instance, executions[1]!)
    await small.complete(ending(taken))
    // A running execution continues before another one starts.
    expect(small.jobs.map(({ execution, node }) => [execution, node])).toEqual([
      [executions[0], 't0'],
      [executions[2], 't0'],
      [executions[1], 'out'],
    ])
    await small.complete(ending(await takeNext(small, instance, executions[1]!)))
    expect(small.jobs.at(-1)).toMatchObject({ execution: executions[3], node: 't0' })
    await small.close()
  })

  test('holds for the nodes that one result makes ready', async ({ database, fixture, tenant }) => {
    const small = await openEngine(database.ledgerUrl, { maxConcurrentNodes: 2 })
    const instance = await small.newInstance()
    const { nodes, edges, ...contract } = chain(1)
    const more = ['a', 'b', 'c'].map((id) => ({ id, kind: 'template', template: '{{ text }}' }))
    const joined = { id: 'join', kind: 'template', template: '{{ a }}{{ b }}{{ c }}' }
    const graph = {
      ...contract,
      nodes: [...nodes, ...more, joined],
      edges: [
        edges[0]!,
        ...more.flatMap(({ id }) => [
          { from: 't0.text', to: `${id}.text` },
          { from: `${id}.text`, to: `join.${id}` },
        ]),
        { from: 'join.text', to: 'out.text' },
      ],
    }
    const asked = question(tenant.key, await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph }))
    await small.start(asked)
    await small.complete(ending(await takeNext(small, instance, asked.id)))
    expect(small.jobs.map(({ node }) => node)).toEqual(['a', 'b'])
    await small.close()
  })

  test('applies to each project separately', async ({ database, fixture, tenant }) => {
    const small = await openEngine(database.ledgerUrl, { maxConcurrentNodes: 4 })
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    await Promise.all(Array.from({ length: 200 }, () => small.start(question(tenant.key, sandbox))))
    expect(small.jobs).toHaveLength(4)
    const other = await openTenant(fixture)
    const theirs = await publishProduct(fixture, other.project.id, other.owners.owner, { graph: chain(1) })
    const asked = question(other.key, theirs)
    await small.start(asked)
    expect(small.jobs).toHaveLength(5)
    expect(small.jobs[4]).toMatchObject({ execution: asked.id })
    await small.close()
  })
})

describe('the node batcher', () => {
  test('decides other executions while a wallet is locked, and charges that wallet afterwards', async ({
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
    await admit(instance, taken)
    const free = await openTenant(fixture)
    const sandbox = await publishProduct(fixture, free.project.id, free.owners.owner, { graph: chain(0) })
    const asked = question(free.key, sandbox)
    await engine.start(asked)
    const other = await takeNext(engine, instance, asked.id)

    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    const charging = engine.complete(ending(taken, { usage: usage(5) }))
    await untilBlocked(fixture, charging)
    expect(await engine.complete(ending(other))).toMatchObject({ kind: 'completed' })
    await holding.query('COMMIT')
    await holding.end()
    expect(await charging).toMatchObject({ kind: 'completed' })
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 5 })
  })

  test('retries an execution that changed since it was read, and locks it if it keeps changing', async ({
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
          // Another replica changes the execution between the read and the write, but not once it is locked.
          if (sql.includes('read_executions') && changed++ < 3)
            await fixture.run('UPDATE money.executions SET version = version + 1 WHERE id = $1', [execution])
          return answer
        }),
    })
    expect(await meddled.complete(ending(taken))).toEqual({ kind: 'completed' })
    expect(changed).toBe(3) // then it was locked and re-read
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Succeeded' })
    await meddled.close()
  })

  test('retries after a lost connection without deciding anything twice', async ({
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
          // The batch is written, and its result never arrives.
          if (sql.includes('write_executions') && lost++ === 0)
            throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
          return answer
        }),
    })
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(instance, taken)
    expect(await dying.complete(ending(taken, { usage: usage(11) }))).toEqual({ kind: 'completed' })
    expect(lost).toBe(1)
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 11 })
    await engine.requeueLostJobs() // the jobs of that batch were lost with its result
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded', chargedMicro: 11 })
    await dying.close()
  })

  test('quarantines a poisoned item and decides the rest of its batch', async ({ database, instance, begin }) => {
    const replica = await openEngine(database.ledgerUrl)
    const executions = [await begin(chain(1), replica), await begin(chain(1), replica)]
    const claims = executions.map((execution) =>
      replica.claim({ execution, node: 't0', attempt: 1, lease: newLease(), instance }),
    )
    const bad = replica.claim({ execution: 'exe_\u0000', node: 't0', attempt: 1, lease: newLease(), instance })
    expect((await Promise.all(claims)).map(({ kind }) => kind)).toEqual(['claimed', 'claimed'])
    expect(await bad).toEqual({ kind: 'undecided', why: 'unavailable' })
    expect(replica.quarantined).toHaveLength(1)
    await replica.close()
  })

  test('ends only when a quarantined item that is retried has its answer', async ({ database, begin }) => {
    let atMs = 0
    let refusing = false
    const replica = await openEngine(database.ledgerUrl, {
      now: () => atMs,
      around: (inner) =>
        intercept(inner, async (sql, ask) => {
          if (refusing && sql.includes('write_executions')) throw Object.assign(new Error('refused'), { code: '22000' })
          return ask()
        }),
    })
    const execution = await begin(chain(1), replica)
    const completion = ending(await takeNext(replica, await replica.newInstance(), execution))
    refusing = true
    expect(await replica.complete(completion)).toEqual({ kind: 'undecided', why: 'unavailable' })
    atMs = 2_000
    const answers: unknown[] = []
    void replica.complete(completion).then((answer) => answers.push(answer))
    await replica.nodeBatcher.drain()
    expect(answers).toMatchObject([{ kind: 'completed' }])
    await replica.close()
  })
})

/** Wraps a database so that `around` intercepts its statements outside of transactions. */
function intercept(
  { prisma, sql }: Database,
  around: (text: string, ask: () => Promise<unknown>) => Promise<unknown>,
): Pick<Database, 'prisma' | 'sql'> {
  const query: Sql['query'] = (text, values) => around(text, () => sql.query(text, values)) as never
  return { prisma, sql: { query, transaction: sql.transaction } }
}
