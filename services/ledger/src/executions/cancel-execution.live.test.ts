import { describe, expect } from 'vitest'
import { refuse } from '@gateway/api/refusal'
import { claimOf, ending, failing, idempotencyOf, newLease, question, takeNext } from '../fixtures/engine.ts'
import { findingsOf, openTenant, test as ledgerTest, walletOf } from '../fixtures/ledger-test.ts'
import { chain, fan, oneCall, publishProduct } from '../fixtures/sandbox-products.ts'

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

const test = ledgerTest
  /** Two sibling calls, both admitted. */
  .extend('twoCalls', async ({ engine, tenant, begin, admit }) => {
    const instance = await engine.newInstance()
    const execution = await begin(fan([tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
    await admit(instance, one)
    await admit(instance, other)
    return { execution, instance, one, other }
  })
  .extend(
    'overtime',
    ({ fixture }) =>
      (execution: string) =>
        fixture.run(
          `UPDATE money.executions SET deadline_at = now() - interval '1 second', version = version + 1 WHERE id = $1`,
          [execution],
        ),
  )

describe('canceling an execution', () => {
  test('before a worker claims a node ends it immediately as Cancelled, uncharged, and none of its nodes starts [execution_cancelled]', async ({
    engine,
    tenant,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const job = engine.jobs.find((one) => one.execution === execution)!
    engine.notified.length = 0
    const answer = await engine.cancel({ execution, project: tenant.project.id })
    expect(answer).toMatchObject({ began: true, stoppedBy: 'user' })
    const record = await engine.record(execution)
    expect(record).toMatchObject({
      status: 'Cancelled',
      chargedMicro: 0,
      startedAt: null,
      completedAt: expect.any(String) as string,
      error: { code: 'execution_cancelled', message: expect.stringContaining('was not charged') as string },
    })
    expect(engine.notified).toEqual([`done:${execution}`])
    const instance = await engine.newInstance()
    expect(await engine.claim({ ...claimOf(job), lease: newLease(), instance })).toEqual({
      kind: 'nothing-to-do',
      cancelled: 'user',
    })
    expect((await engine.follow({ execution, after: 1 })).lines).toContain('"status":"Cancelled"')
  })

  test('charges completed calls, releases the others and leaves nothing reserved', async ({
    engine,
    replica,
    tenant,
    twoCalls: { execution, one, other },
  }) => {
    engine.notified.length = 0
    const caller = { keyHash: tenant.key.hash, selector: null }
    expect(await engine.cancel({ execution, caller })).toMatchObject({ began: true, stoppedBy: 'key' })
    expect(engine.notified).toEqual([`end:${execution}`])
    expect(await engine.record(execution)).toMatchObject({ status: 'Running', error: { code: 'execution_cancelled' } })
    await engine.complete(ending(one, { usage }))
    await engine.complete(ending(other, { result: failing('execution_cancelled') }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Cancelled',
      chargedMicro: 20,
      output: null,
      error: { details: { by: 'key' }, message: expect.stringContaining('charged $0.00002') as string },
    })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 20n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('ends it even if its worker is dead or silent', async ({
    engine,
    replica,
    tenant,
    twoCalls,
    overtime,
    begin,
    admit,
  }) => {
    await engine.cancel({ execution: twoCalls.execution, project: tenant.project.id })
    await engine.endInstance(twoCalls.instance)
    await engine.reclaim()
    expect(await engine.record(twoCalls.execution)).toMatchObject({ status: 'Cancelled', chargedMicro: 0 })

    const instance = await engine.newInstance()
    const silent = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, silent)
    await admit(instance, taken)
    await engine.cancel({ execution: silent, project: tenant.project.id })
    await engine.endOverdue()
    expect(await engine.record(silent)).toMatchObject({ status: 'Running' })
    await overtime(silent)
    await engine.endOverdue()
    expect(await engine.record(silent)).toMatchObject({
      status: 'Cancelled',
      nodes: [{}, { status: 'Failed', error: { code: 'execution_cancelled' } }, { status: 'Pending' }],
    })
    expect(await engine.complete(ending(taken, { usage }))).toEqual({ kind: 'fenced' })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('returns the same record when repeated on any replica, and leaves an ended execution unchanged', async ({
    engine,
    twin,
    tenant,
    begin,
  }) => {
    const project = tenant.project.id
    const execution = await begin(chain(1))
    const first = await engine.cancel({ execution, project })
    expect(await twin.cancel({ execution, project })).toEqual({ ...first, began: false })
    const ended = await begin(chain(0))
    await engine.complete(ending(await takeNext(engine, await engine.newInstance(), ended)))
    expect(await engine.cancel({ execution: ended, project })).toMatchObject({ began: false, stoppedBy: null })
    expect(await engine.record(ended)).toMatchObject({ status: 'Succeeded' })
  })

  test('returns the record of a failing execution whose error text Postgres cannot store as text', async ({
    engine,
    twoCalls,
  }) => {
    const { execution, one, other } = twoCalls
    const error = JSON.stringify({ ...refuse('node_failed', { node: 'c0' }).body, message: 'of \u0000 and \ud800' })
    await engine.complete(ending(one, { result: { kind: 'failed', error } }))
    expect(await engine.cancel({ execution })).toMatchObject({ began: false, stoppedBy: null })
    await engine.complete(ending(other, { result: failing() }))
    expect(await engine.record(execution)).toMatchObject({ status: 'Failed', error: { code: 'node_failed' } })
  })

  test('makes a repeat under its idempotency key return the cancelled execution', async ({
    engine,
    fixture,
    tenant,
  }) => {
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const idempotency = idempotencyOf('stopped-1')
    const asked = question(tenant.key, sandbox, { idempotency })
    await engine.start(asked)
    await engine.cancel({ execution: asked.id, project: tenant.project.id })
    const again = await engine.start(question(tenant.key, sandbox, { idempotency }))
    expect(again).toMatchObject({ kind: 'started', execution: asked.id, replayed: true })
  })

  test('is allowed only to callers who may read it, and only under its own sandbox product [execution_not_found] [key_scope]', async ({
    engine,
    fixture,
    tenant,
    begin,
  }) => {
    const execution = await begin(chain(1))
    const other = await openTenant(fixture)
    const byKey = (hash: string) => ({ keyHash: hash, selector: null })
    const notFound = { refused: { code: 'execution_not_found', facts: { execution } } }
    expect(await engine.cancel({ execution, caller: byKey(other.key.hash) })).toEqual(notFound)
    expect(await engine.cancel({ execution, project: other.project.id })).toEqual(notFound)
    expect(await engine.cancel({ execution, caller: byKey(tenant.key.hash), sandbox: 'sbx-other' })).toEqual(notFound)
    const listed = await fixture.key({
      project: tenant.project,
      by: tenant.owners.owner,
      policy: 'listed',
      resources: [tenant.product],
    })
    expect(await engine.cancel({ execution, caller: byKey(listed.hash) })).toMatchObject({
      refused: { code: 'key_scope' },
    })
    expect(await engine.record(execution)).toMatchObject({ status: 'Admitted', error: null })
  })
})
