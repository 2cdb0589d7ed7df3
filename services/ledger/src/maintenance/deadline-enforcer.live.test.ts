import { describe, expect } from 'vitest'
import { claimOf, ending, newLease, takeNext } from '../fixtures/engine.ts'
import { findingsOf, walletOf, test as ledgerTest } from '../fixtures/ledger-test.ts'
import { chain, fan, oneCall } from '../fixtures/sandbox-products.ts'

/** Moves the deadline of an execution into the past. */
const test = ledgerTest.extend(
  'passDeadline',
  ({ fixture }) =>
    (execution: string) =>
      fixture.run(
        `UPDATE money.executions SET deadline_at = now() - interval '1 second', version = version + 1 WHERE id = $1`,
        [execution],
      ),
)

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

describe('an execution past its deadline', () => {
  test('fails uncharged if no worker claimed a node [execution_timeout]', async ({
    engine,
    begin,
    passDeadline,
    fixture,
  }) => {
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

  // spec: 8.2/r7
  test('notifies its workers, records the nodes they still end, and fails with the amount charged so far', async ({
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
    engine.notified.length = 0
    await engine.endOverdue()
    expect(engine.notified).toContain(`end:${execution}`)
    expect(await engine.record(execution)).toMatchObject({ status: 'Running', error: { code: 'execution_timeout' } })
    engine.notified.length = 0
    await engine.endOverdue() // notifies again, and waits
    expect(engine.notified).toEqual([`end:${execution}`])
    await engine.complete(ending(other, { usage }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      chargedMicro: 40,
      error: { code: 'execution_timeout' },
    })
  })

  test('fails nodes that still run after the grace period and leaves nothing reserved', async ({
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
