import { describe, expect } from 'vitest'
import { ending, failing, takeNext } from '../fixtures/engine.ts'
import { findingsOf, walletOf, test } from '../fixtures/ledger-test.ts'
import { chain, fan, oneCall } from '../fixtures/sandbox-products.ts'

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

describe('a node whose instance has ended', () => {
  test('is reclaimed with its reservation released, and is charged once when it runs again', async ({
    engine,
    replica,
    tenant,
    begin,
    admit,
    fixture,
  }) => {
    const [dead, living] = [await engine.newInstance(), await engine.newInstance()]
    const execution = await begin(oneCall(tenant.product))
    const first = await takeNext(engine, dead, execution)
    await admit(dead, first)
    await engine.reclaim()
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Running' }) // its instance is alive
    await engine.endInstance(dead)
    await engine.reclaim()
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect((await engine.record(execution)).nodes[1]).toMatchObject({ status: 'Pending' })

    const second = await takeNext(engine, living, execution)
    expect(second.claim).toMatchObject({ attempt: 2, callId: first.claim.callId })
    await admit(living, second)
    // The first worker completes after all, twice: its call cost something, and no one is charged for it.
    const reservation = first.claim.callReservation
    for (let n = 0; n < 2; n++)
      expect(await engine.complete(ending(first, { usage, reservation }))).toEqual({ kind: 'fenced' })
    const writeOffs = () =>
      fixture.run('SELECT kind, micro FROM money.write_offs WHERE reservation = $1', [reservation])
    expect((await writeOffs()).rows).toEqual([{ kind: 'fenced', micro: '20' }])
    await engine.complete(ending(second, { usage }))
    // A write-off is recorded only under the attempt's own reservation, not under one that was charged or is another's.
    const third = second.claim.callReservation
    expect(await engine.complete(ending(first, { usage, reservation: third }))).toEqual({ kind: 'fenced' })
    expect((await fixture.run('SELECT FROM money.write_offs WHERE reservation = $1', [third])).rowCount).toBe(0)
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 20 })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 20n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('five times fails [node_failed]; nodes that were given back do not count', async ({ engine, begin }) => {
    const execution = await begin(chain(1))
    const waitForLocks = await engine.newInstance()
    for (let n = 0; n < 5; n++)
      await engine.complete(ending(await takeNext(engine, waitForLocks, execution), { result: { kind: 'given-back' } }))
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

  test('in a failing execution lets that execution end', async ({ engine, tenant, begin, admit, replica }) => {
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
