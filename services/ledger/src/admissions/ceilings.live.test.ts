import { expect } from 'vitest'
import type { AdmitNodeOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Fixture } from '@gateway/testbed/fixture'
import { countCodes } from '../fixtures/replica.ts'
import {
  closeNodes,
  insertExecution,
  insertNodes,
  nodeItem,
  reclaimNodes,
  type HeldNode,
} from '../fixtures/execution-rows.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'

// An execution is never charged more than its ceiling, regardless of what its nodes request concurrently (money §7.5).
// Each call in these tests reserves 100.

type TenantFixture = Awaited<ReturnType<typeof openTenant>>

async function nodesUnder(fixture: Fixture, tenant: TenantFixture, maxMicro: bigint, count: number) {
  const project = tenant.project.id
  const execution = await insertExecution(fixture, project, { key: tenant.key.id }, maxMicro)
  return insertNodes(fixture, { execution, project, count })
}

const admittedOf = (nodes: HeldNode[], outcomes: AdmitNodeOutcome[]) =>
  nodes.filter((_, n) => outcomes[n]!.kind === 'admitted')

const tokens = (completionTokens: number) => ({ promptTokens: 0, completionTokens })

test('two replicas admit exactly as many of 60 concurrent sibling nodes as fit under the execution’s ceiling [ceiling_reached]', async ({
  fixture,
  replica,
  other,
  tenant,
}) => {
  const project = tenant.project.id
  const nodes = await nodesUnder(fixture, tenant, 1_050n, 60)
  const ask = (some: HeldNode[]) =>
    Promise.all(
      some.map((node, n) => {
        const of = n % 2 ? replica : other
        return of.admitNode(nodeItem(of, node, tenant.product))
      }),
    )
  const first = await ask(nodes)
  expect(countCodes(first)).toEqual({ admitted: 10, ceiling_reached: 50 })
  expect(first.find(({ kind }) => kind === 'refused')).toMatchObject({
    code: 'ceiling_reached',
    facts: { maxMicro: 1_050, chargedMicro: 0, reservedMicro: 1_000, neededMicro: 100, leastMicro: 100, project },
  })

  // Releases, and charges below the reserved amount, make room for exactly this many more.
  const called = admittedOf(nodes, first)
  await closeNodes(
    replica.reads,
    [project],
    [
      ...called.slice(0, 4).map(({ reservation }) => ({ id: reservation, usage: tokens(30) })),
      ...called.slice(4, 7).map(({ reservation }) => ({ id: reservation, usage: null })),
    ],
  ) // 120 charged, 300 reserved
  const waiting = nodes.filter((node) => !called.includes(node))
  const second = await ask(waiting)
  expect(countCodes(second)).toEqual({ admitted: 6, ceiling_reached: 44 })
  expect(second.find(({ kind }) => kind === 'refused')).toMatchObject({
    facts: { maxMicro: 1_050, chargedMicro: 120, reservedMicro: 900, neededMicro: 100 },
  })
  const open = [...called.slice(7), ...admittedOf(waiting, second)]
  await closeNodes(
    replica.reads,
    [project],
    open.map(({ reservation }) => ({ id: reservation, usage: tokens(900) })),
  )
  expect(await walletOf(replica, project)).toMatchObject({ reserved: 0n, settled: 1_020n })
  expect(await findingsOf(replica, project)).toEqual([])
})

test('a reclaimed attempt no longer counts against the ceiling, and its late response is not charged', async ({
  fixture,
  replica,
  other,
  tenant,
}) => {
  const [node] = await nodesUnder(fixture, tenant, 100n, 1)
  expect(await replica.admitNode(nodeItem(replica, node!, tenant.product))).toMatchObject({ kind: 'admitted' })
  await closeNodes(replica.reads, [tenant.project.id], [{ id: node!.reservation, usage: null }])
  const [again] = await reclaimNodes(fixture, [node!])
  const item = nodeItem(other, again!, tenant.product)
  expect(await other.admitNode(item)).toMatchObject({ kind: 'admitted', attempt: 2 })
  expect(await other.admitNode(item)).toMatchObject({ kind: 'admitted', attempt: 2 }) // retried: the same reservation
  const closings = [
    { id: node!.reservation, usage: tokens(100) },
    { id: again!.reservation, usage: tokens(100) },
  ]
  expect(await closeNodes(replica.reads, [tenant.project.id], closings)).toMatchObject([
    { outcome: 'fenced', chargedMicro: 0 },
    { outcome: 'settled', chargedMicro: 100 },
  ])
  expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 100n })
})

test('checks the execution’s ceiling before the key’s limit and the wallet [ceiling_reached] [key_limit] [insufficient_budget]', async ({
  fixture,
  replica,
}) => {
  const tenant = await openTenant(fixture, 50n)
  const limit = { micro: 40n, reset: 'daily' } as const
  const key = await fixture.key({ project: tenant.project, by: tenant.owners.owner, limit })
  const codeUnder = async (maxMicro: bigint) => {
    const [node] = await nodesUnder(fixture, { ...tenant, key }, maxMicro, 1)
    return countCodes([await replica.admitNode(nodeItem(replica, node!, tenant.product))])
  }
  expect(await codeUnder(99n)).toEqual({ ceiling_reached: 1 })
  expect(await codeUnder(100n)).toEqual({ key_limit: 1 })
})

test('a free call is admitted under an exhausted ceiling, and each execution has its own ceiling', async ({
  fixture,
  replica,
  tenant,
}) => {
  const free = await fixture.product({ promptPico: 0n, completionPico: 0n })
  await fixture.assign(tenant.project.id, free)
  const [none] = await nodesUnder(fixture, tenant, 0n, 1)
  const [spent, left] = await nodesUnder(fixture, tenant, 100n, 2)
  const [second] = await nodesUnder(fixture, tenant, 100n, 1)
  const outcomes = await Promise.all([
    replica.admitNode(nodeItem(replica, none!, free)),
    replica.admitNode(nodeItem(replica, spent!, tenant.product)),
    replica.admitNode(nodeItem(replica, left!, free)),
    replica.admitNode(nodeItem(replica, second!, tenant.product)),
  ])
  expect(countCodes(outcomes)).toEqual({ admitted: 4 })
})

test('the books check reports an execution that was charged more than its ceiling', async ({
  fixture,
  replica,
  tenant,
}) => {
  const [node] = await nodesUnder(fixture, tenant, 100n, 1)
  await replica.admitNode(nodeItem(replica, node!, tenant.product))
  await closeNodes(replica.reads, [tenant.project.id], [{ id: node!.reservation, usage: tokens(100) }])
  expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  await fixture.run('UPDATE money.executions SET max_micro = 99 WHERE id = $1', [node!.execution])
  expect((await findingsOf(replica, tenant.project.id)).join('\n')).toMatch(
    /the execution was charged more than its ceiling: expected 99, found 100/,
  )
})
