import { describe, expect } from 'vitest'
import { countCodes } from '../fixtures/replica.ts'
import { nodeItem, reclaimNodes, rowsOf, runWith } from '../fixtures/execution-rows.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'

// Paid calls of nodes: admitted on behalf of the execution, under the lease of the node, and closed with it.

describe('a node’s call', () => {
  test('is reserved under its execution and node, as the next attempt of the same invocation', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const [first] = await runWith(fixture, tenant)
    const [again] = await reclaimNodes(fixture, [first!])
    const outcome = await replica.admitNode(nodeItem(replica, again!, tenant.product))
    expect(outcome).toEqual({
      kind: 'admitted',
      invocation: first!.call,
      attempt: 2,
      project: tenant.project.id,
      key: tenant.key.id,
      product: tenant.product,
      outputCap: 100,
      reservedMicro: 100,
      routes: [{ provider: 'simulated', model: 'sim' }],
      supportedParameters: expect.arrayContaining(['tools']),
    })
    expect(await rowsOf(fixture, 'reservations', first!.execution)).toEqual([
      expect.objectContaining({ id: again!.reservation, node: 'n0', lineage: tenant.key.id, keyed: false }),
    ])
  })

  // spec: 8.2/s2
  test('returns the same admission when repeated under its id, also on another replica', async ({
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const [node] = await runWith(fixture, tenant)
    const item = nodeItem(replica, node!, tenant.product)
    const first = await replica.admitNode(item)
    expect(await other.admitNode(item)).toEqual(first)
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
  })

  test('is admitted exactly 10 times if 200 arrive at once on two replicas and the wallet covers 10 [insufficient_budget]', async ({
    fixture,
    replica,
    other,
  }) => {
    const tenant = await openTenant(fixture, 1_050n)
    const nodes = (await Promise.all(Array.from({ length: 10 }, () => runWith(fixture, tenant, 20)))).flat()
    const outcomes = await Promise.all(
      nodes.map((node, n) =>
        (n % 2 ? replica : other).admitNode(nodeItem(n % 2 ? replica : other, node, tenant.product)),
      ),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 10, insufficient_budget: 190 })
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 1_050n, reserved: 1_000n, settled: 0n })
    // From the facts, a node that waits for money in flight sees that it would fit without the other reservations.
    const refused = outcomes.find(({ kind }) => kind === 'refused')
    expect(refused).toMatchObject({ facts: { neededMicro: 100, project: tenant.project.id } })
    const { availableMicro, reservedMicro } = (refused as { facts: Record<string, number> }).facts
    expect(availableMicro! + reservedMicro!).toBe(1_050)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  // spec: 1/s7
  test('shares the spending window of the key’s lineage with direct calls [key_limit]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const limit = { micro: 777n, reset: 'daily' } as const
    const key = await fixture.key({ project: tenant.project, by: tenant.owners.owner, limit })
    const nodes = await runWith(fixture, tenant, 10, { key: key.id })
    const outcomes = await Promise.all([
      ...nodes.map((node) => replica.admitNode(nodeItem(replica, node, tenant.product))),
      ...nodes.map(() => replica.admit(replica.item(key, tenant.product))),
    ])
    expect(countCodes(outcomes)).toEqual({ admitted: 7, key_limit: 13 })
    expect(outcomes.find(({ kind }) => kind === 'refused')).toMatchObject({
      facts: { limitMicro: 777, spentMicro: 0, reservedMicro: 700, neededMicro: 100, reset: 'daily' },
    })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('is not admitted for an instance that has ended', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    const item = nodeItem(replica, node!, tenant.product, { instance: 'ins_ended' })
    expect(await replica.admitNode(item)).toEqual({ kind: 'instance-unknown' })
  })
})
