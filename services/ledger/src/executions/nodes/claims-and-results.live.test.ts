import { describe, expect } from 'vitest'
import type { Claimed } from '@gateway/ledger-protocol/flow-items'
import { walletOf } from '../../fixtures/ledger-test.ts'
import { claimOf, ending, failing, newLease, takeNext } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { chain, fan, oneCall } from '../../fixtures/sandbox-products.ts'

const test = ledgerTest.extend('instance', ({ engine }) => engine.newInstance())

const usage = (completionTokens: number) => ({ promptTokens: 1, completionTokens, estimated: false })

describe('a claim', () => {
  test('returns the same node when repeated with its lease, and nothing with another lease', async ({
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

  test('returns nothing for a node that is not ready or unknown, or for an earlier attempt', async ({
    engine,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const nothing = { kind: 'nothing-to-do' }
    const asked = { execution: execution, node: 't0', attempt: 1, instance }
    expect(await engine.claim({ ...asked, node: 'out', lease: newLease() })).toEqual(nothing)
    expect(await engine.claim({ ...asked, node: 'unknown', lease: newLease() })).toEqual(nothing)
    expect(await engine.claim({ ...asked, execution: 'exe_none', lease: newLease() })).toEqual(nothing)
    await engine.complete(ending(await takeNext(engine, instance, execution), { result: { kind: 'given-back' } }))
    expect(await engine.claim({ ...asked, lease: newLease() })).toEqual(nothing)
    expect((await takeNext(engine, instance, execution)).claim.attempt).toBe(2)
  })

  test('returns instance-unknown for an instance that is not alive, and leases nothing', async ({
    engine,
    instance,
    begin,
  }) => {
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

  test('lost in a database crash is fenced at admission, and its worker can claim it again and give it back', async ({
    engine,
    twin,
    fixture,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(oneCall(tenant.product))
    const rows = async (table: string, id: string) =>
      (await fixture.run(`SELECT * FROM money.${table} WHERE ${id} = $1 ORDER BY 1, 2`, [execution])).rows
    const before = [await rows('executions', 'id'), await rows('execution_nodes', 'execution')]
    const taken = await takeNext(engine, instance, execution)
    await fixture.run('BEGIN') // undo what was written without waiting for the disk (F6 of write_executions)
    for (const [table, id] of [
      ['execution_nodes', 'execution'],
      ['executions', 'id'],
    ] as const)
      await fixture.run(`DELETE FROM money.${table} WHERE ${id} = $1`, [execution])
    for (const [n, table] of ['executions', 'execution_nodes'].entries())
      for (const row of before[n]! as Record<string, unknown>[]) {
        const names = Object.keys(row)
        await fixture.run(
          `INSERT INTO money.${table} (${names.join(', ')}) VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
          Object.values(row),
        )
      }
    await fixture.run('COMMIT')

    expect(await admit(instance, taken)).toEqual({ kind: 'fenced' })
    expect(await twin.claim({ ...claimOf(taken.job), lease: taken.lease, instance })).toMatchObject({ kind: 'claimed' })
    const givenBack = ending(taken, { result: { kind: 'given-back' } })
    expect(await twin.complete(givenBack)).toEqual({ kind: 'completed' })
    const again = await takeNext(twin, instance, execution)
    expect(await admit(instance, again)).toMatchObject({ kind: 'admitted' })
    await twin.complete(ending(again, { usage: usage(3) }))
    await twin.complete(ending(await takeNext(twin, instance, execution)))
    expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded' })
  })

  test('by 50 workers for the same node succeeds for exactly one', async ({ engine, twin, instance, begin }) => {
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
  test('of a free node granted without a record is recorded from any replica, with the time when the node began', async ({
    engine,
    twin,
    fixture,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const { job, lease } = await takeNext(engine, instance, execution, { isFirst: true })
    const nodeRow = async () => {
      const { rows } = await fixture.run(
        `SELECT state, lease, extract(epoch FROM completed_at - claimed_at)::float8 AS lasted
           FROM money.execution_nodes WHERE execution = $1 AND node = $2`,
        [execution, job.node],
      )
      return rows[0]
    }
    expect(await nodeRow()).toEqual({ state: 'Ready', lease: null, lasted: null })
    const measured = { durationMs: 250, remoteMs: null }
    const item = { ...ending({ job, lease }, { measured }), instance }
    expect(await twin.complete(item)).toMatchObject({ kind: 'completed' })
    expect(await nodeRow()).toEqual({ state: 'Succeeded', lease, lasted: 0.25 })
    expect(await engine.complete(item)).toEqual({ kind: 'completed' })
    expect(await engine.complete({ ...item, lease: newLease() })).toEqual({ kind: 'fenced' })
    const last = ending(await takeNext(twin, instance, execution, { isFirst: true }))
    expect(await engine.complete({ ...last, instance })).toEqual({ kind: 'completed' })
    expect((await engine.record(execution)).status).toBe('Succeeded')
  })

  test('has the free node that it made ready, as its claim would return it, unless that is large (R13)', async ({
    engine,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(3))
    const first = await takeNext(engine, instance, execution)
    const outcome = await engine.complete(ending(first))
    const second = await takeNext(engine, instance, execution, { isFirst: true })
    const untimed = (claim: Claimed) => ({ ...claim, remainingMs: 0 })
    expect(outcome).toMatchObject({ kind: 'completed', ready: [{ remainingMs: expect.any(Number) }] })
    expect(outcome.kind === 'completed' && outcome.ready!.map(untimed)).toEqual([untimed(second.claim)])
    const output = JSON.stringify({ text: 'x'.repeat(10_000) })
    const large = {
      result: { kind: 'succeeded' as const, output, ports: ['text'] },
      instance,
    }
    expect(await engine.complete(ending(second, large))).toEqual({ kind: 'completed' })
    expect((await takeNext(engine, instance, execution)).claim.outputs).toEqual({ t1: output })
  })

  // spec: 8.2/s1
  test('is recorded once, acknowledged again when repeated, and fenced under another lease', async ({
    engine,
    twin,
    instance,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const taken = await takeNext(engine, instance, execution)
    expect(await twin.complete(ending({ ...taken, lease: newLease() }))).toEqual({ kind: 'fenced' })
    const both = await Promise.all([engine.complete(ending(taken)), twin.complete(ending(taken))])
    expect(both).toMatchObject([{ kind: 'completed' }, { kind: 'completed' }])
    expect(await engine.complete(ending(taken, { result: failing() }))).toEqual({ kind: 'completed' })
    expect(await engine.complete({ ...ending(taken), execution: 'exe_none' })).toEqual({ kind: 'fenced' })
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Succeeded', output: { text: 'by t0' } })
    await engine.complete(ending(await takeNext(twin.jobs.length > 0 ? twin : engine, instance, execution)))
    expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded' })
  })

  test('of two siblings sent concurrently to two replicas always enqueues the node that waits for both', async ({
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

  test('of a paid call charges its usage once, in the same transaction', async ({
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
    expect((await admit(instance, taken)).kind).toBe('admitted')
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

  test('without usage releases the reservation', async ({ engine, replica, instance, begin, admit, tenant }) => {
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(instance, taken)
    await engine.complete(ending(taken, { result: failing() }))
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 0,
      error: { code: 'provider_failed' },
    })
  })

  test('that gives the node back lets the next attempt be charged under the same call', async ({
    engine,
    replica,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(oneCall(tenant.product))
    const first = await takeNext(engine, instance, execution)
    await admit(instance, first)
    await engine.complete(ending(first, { result: { kind: 'given-back' } }))
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n })
    const second = await takeNext(engine, instance, execution)
    expect(second.claim).toMatchObject({
      attempt: 2,
      callId: first.claim.callId,
      callReservation: `${first.claim.callId}-2`,
    })
    expect((await admit(instance, first)).kind).toBe('fenced')
    expect((await admit(instance, second)).kind).toBe('admitted')
    await engine.complete(ending(second, { usage: usage(7) }))
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 7, childCalls: [first.claim.callId] })
  })
})
