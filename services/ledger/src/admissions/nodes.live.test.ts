import { describe, expect } from 'vitest'
import type { Fixture } from '@gateway/testbed/fixture'
import { reapReservations } from '../maintenance/reservation-reaper.ts'
import { codeOf, countCodes, type Replica } from '../fixtures/replica.ts'
import {
  closeNodes,
  failExecution,
  insertNodes,
  insertExecution,
  nodeItem,
  reclaimNodes,
  rotateKey,
  type HeldNode,
  type Runner,
} from '../fixtures/execution-rows.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'

// Paid calls of nodes: admitted in the name of their run, under the lease of their node, and closed with it.

type TenantFixture = Awaited<ReturnType<typeof openTenant>>

/** An execution of the tenant's key, or of somebody else, with so many claimed nodes. */
async function runWith(
  fixture: Fixture,
  tenant: TenantFixture,
  count = 1,
  by: Runner = { key: tenant.key.id },
): Promise<HeldNode[]> {
  const execution = await insertExecution(fixture, tenant.project.id, by)
  return insertNodes(fixture, { execution, project: tenant.project.id, count })
}

const settled = (node: HeldNode, completionTokens: number) => ({
  id: node.reservation,
  usage: { promptTokens: 10, completionTokens },
})
/** What whoever closes direct calls is told of a node's. */
const STRANGE = [{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'unknown' }]
const released = (node: HeldNode) => ({ id: node.reservation, usage: null })

async function rowsOf(fixture: Fixture, table: 'reservations' | 'attempts', execution: string) {
  const { rows } = await fixture.run(`SELECT * FROM money.${table} WHERE execution = $1 ORDER BY attempt, node`, [
    execution,
  ])
  return rows as Record<string, unknown>[]
}

async function codeNow(replica: Replica, tenant: TenantFixture, node: HeldNode): Promise<string> {
  return codeOf(await replica.admitNode(nodeItem(replica, node, tenant.product)))
}

describe('a node’s call', () => {
  test('is held under its execution and node, as an attempt at the node’s call', async ({
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

  test('asked again under its id is the same admission, through another replica too', async ({
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

  test('200 at once on a wallet that holds 10, through two replicas: exactly 10 [insufficient_budget]', async ({
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
    // What waits for money in flight sees by the facts that it would fit without what others hold.
    const refused = outcomes.find(({ kind }) => kind === 'refused')
    expect(refused).toMatchObject({ facts: { neededMicro: 100, project: tenant.project.id } })
    const { availableMicro, reservedMicro } = (refused as { facts: Record<string, number> }).facts
    expect(availableMicro! + reservedMicro!).toBe(1_050)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('beside direct calls of its key, shares the window of the lineage [key_limit]', async ({
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

  test('of an instance that has ended is not held', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    const item = nodeItem(replica, node!, tenant.product, { instance: 'ins_nobody' })
    expect(await replica.admitNode(item)).toEqual({ kind: 'instance-unknown' })
  })
})

describe('in whose name an execution calls', () => {
  test('rotation and expiry of its key don’t stop it', async ({ fixture, replica, tenant }) => {
    const key = await fixture.key({ project: tenant.project, by: tenant.owners.owner, expiresInMs: -1_000 })
    const [node] = await runWith(fixture, tenant, 1, { key: key.id })
    const second = await rotateKey(fixture, key)
    await rotateKey(fixture, second)
    expect(codeOf(await replica.admit(replica.item(key, tenant.product)))).toBe('key_revoked')
    expect(await replica.admitNode(nodeItem(replica, node!, tenant.product))).toMatchObject({
      kind: 'admitted',
      key: key.id,
    })
    expect(await rowsOf(fixture, 'reservations', node!.execution)).toMatchObject([{ key: key.id, lineage: key.id }])
  })

  test('a revocation does, of its own key or of the newest of its lineage [key_revoked]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const [one] = await runWith(fixture, tenant)
    const other = await fixture.key({ project: tenant.project, by: tenant.owners.owner })
    const [two, later] = await runWith(fixture, tenant, 2, { key: other.id })
    const newest = await rotateKey(fixture, await rotateKey(fixture, other))
    expect(await codeNow(replica, tenant, later!)).toBe('admitted')
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = ANY ($1)', [[tenant.key.id, newest.id]])
    for (const node of [one!, two!])
      expect(await replica.admitNode(nodeItem(replica, node, tenant.product))).toMatchObject({
        kind: 'refused',
        code: 'key_revoked',
        facts: { rotatedTo: null },
      })
  })

  test('so does its issuer’s loss of the role [key_issuer_denied]', async ({ fixture, replica, tenant }) => {
    const issuer = await fixture.issuer(tenant.project)
    const key = await fixture.key({ project: tenant.project, by: issuer })
    const [first, second] = await runWith(fixture, tenant, 2, { key: key.id })
    expect(await codeNow(replica, tenant, first!)).toBe('admitted')
    await fixture.run('DELETE FROM control.project_grants WHERE person = $1', [issuer])
    expect(await codeNow(replica, tenant, second!)).toBe('key_issuer_denied')
  })

  test('a person’s in the console has no key and no meter, and lasts as long as the role [not_permitted]', async ({
    fixture,
    replica,
  }) => {
    const tenant = await openTenant(fixture)
    const person = await fixture.issuer(tenant.project)
    const [first, second, third] = await runWith(fixture, tenant, 3, { person })
    expect(await replica.admitNode(nodeItem(replica, first!, tenant.product))).toMatchObject({
      kind: 'admitted',
      key: '',
    })
    await closeNodes(replica.reads, [tenant.project.id], [settled(first!, 30)])
    expect(await rowsOf(fixture, 'attempts', first!.execution)).toMatchObject([
      { key: '', lineage: '', window_start: null, charged_micro: '30' },
    ])
    await fixture.run(`UPDATE control.project_grants SET role = 'Project Viewer' WHERE person = $1`, [person])
    expect(await replica.admitNode(nodeItem(replica, second!, tenant.product))).toMatchObject({
      code: 'not_permitted',
      facts: { need: 'the permission to invoke in this project' },
    })
    await fixture.run(`DELETE FROM control.project_grants WHERE person = $1`, [person])
    expect(await codeNow(replica, tenant, third!)).toBe('not_permitted')
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 30n })
    expect((await fixture.run(`SELECT FROM money.meters WHERE lineage = ''`)).rowCount).toBe(0)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })
})

describe('what an execution may call', () => {
  test('is assigned and published [product_not_assigned]', async ({ fixture, replica, tenant }) => {
    const draft = await fixture.product({ state: 'draft' })
    await fixture.assign(tenant.project.id, draft)
    const elsewhere = await fixture.product()
    const nodes = await runWith(fixture, tenant, 3)
    for (const [n, model] of [draft, elsewhere, 'acme/nothing'].entries())
      expect(await replica.admitNode(nodeItem(replica, nodes[n]!, model))).toMatchObject({
        code: 'product_not_assigned',
        facts: { product: model },
      })
  })

  test('is listed, where its key lists [key_scope]', async ({ fixture, replica, tenant }) => {
    const other = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(tenant.project.id, other)
    const by = tenant.owners.owner
    const key = await fixture.key({ project: tenant.project, by, policy: 'listed', resources: [tenant.product] })
    const [first, second] = await runWith(fixture, tenant, 2, { key: key.id })
    await rotateKey(fixture, key)
    expect(await codeNow(replica, tenant, first!)).toBe('admitted')
    expect(await replica.admitNode(nodeItem(replica, second!, other))).toMatchObject({
      code: 'key_scope',
      facts: { resource: other },
    })
  })

  for (const kind of ['image', 'audio'] as const)
    test(`includes ${kind} products, at their price per request whatever the prompt’s length`, async ({
      fixture,
      replica,
      tenant,
    }) => {
      const product = await fixture.product({
        kind,
        requestPico: 40_000_000_000n,
        contextLength: 10,
        maxOutputTokens: 1,
      })
      await fixture.assign(tenant.project.id, product)
      const [node] = await runWith(fixture, tenant)
      const promptSize = { bytes: 60_000, messages: 1, tools: 0, images: 0, counted: null, maxTokens: null }
      const item = nodeItem(replica, node!, product, { promptSize })
      expect(await replica.admitNode(item)).toMatchObject({ kind: 'admitted', reservedMicro: 40_000 })
      const [closed] = await closeNodes(replica.reads, [tenant.project.id], [settled(node!, 0)])
      expect(closed).toEqual({ outcome: 'settled', chargedMicro: 40_000, excessMicro: 0 })
      expect(codeOf(await replica.admit(replica.item(tenant.key, product)))).toBe('model_not_found')
    })

  test('is bounded by a chat product’s context [context_limit]', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    const item = nodeItem(replica, node!, tenant.product, { maxTokens: 8_193 })
    expect(codeOf(await replica.admitNode(item))).toBe('context_limit')
  })
})

describe('a lease', () => {
  test('that is another’s now holds nothing: fenced', async ({ fixture, replica, other, tenant }) => {
    const [lost] = await runWith(fixture, tenant)
    const item = nodeItem(replica, lost!, tenant.product)
    const [held] = await reclaimNodes(fixture, [lost!])
    expect(await replica.admitNode(item)).toEqual({ kind: 'fenced' })
    expect(await replica.admitNode({ ...item, lease: held!.lease })).toEqual({ kind: 'fenced' }) // the old attempt's id
    expect(await other.admitNode(nodeItem(other, held!, tenant.product))).toMatchObject({
      kind: 'admitted',
      attempt: 2,
    })
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
  })

  test('of a node or an execution that the books don’t know is fenced', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    for (const strange of [{ node: 'nowhere' }, { execution: 'exe_nowhere' }])
      expect(await replica.admitNode({ ...nodeItem(replica, node!, tenant.product), ...strange })).toEqual({
        kind: 'fenced',
      })
  })

  test('of an execution that has begun to fail or has ended is fenced', async ({ fixture, replica, tenant }) => {
    const [failing] = await runWith(fixture, tenant)
    await failExecution(fixture, failing!.execution)
    const [ended] = await runWith(fixture, tenant)
    await fixture.run(
      `UPDATE money.executions SET status = 'Succeeded', output = '{}', completed_at = now() WHERE id = $1`,
      [ended!.execution],
    )
    for (const node of [failing!, ended!]) expect(await codeNow(replica, tenant, node)).toBe('fenced')
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(0n)
  })

  test('whose call is charged already is fenced, and the table takes no second charge', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const [node] = await runWith(fixture, tenant)
    await codeNow(replica, tenant, node!)
    await closeNodes(replica.reads, [tenant.project.id], [settled(node!, 40)])
    const [again] = await reclaimNodes(fixture, [node!]) // as nobody does after a result
    expect(await codeNow(replica, tenant, again!)).toBe('fenced')
    const second = fixture.run(
      `INSERT INTO money.attempts (id, invocation, attempt, state, project, execution, node, closed_at)
       VALUES ('inv_second', 'inv_second', 2, 'Settled', $1, $2, $3, now())`,
      [tenant.project.id, node!.execution, node!.node],
    )
    await expect(second).rejects.toThrow(/one_charge_a_node/)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('that is taken while its admission waits for the wallet leaves nothing held', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const nodes = await runWith(fixture, tenant, 50)
    // Who ends a lease holds the wallet; either the admission came first and is released, or it is fenced.
    const [outcomes] = await Promise.all([
      Promise.all(nodes.map((node) => replica.admitNode(nodeItem(replica, node, tenant.product)))),
      replica.reads.prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT FROM money.wallets WHERE project = ${tenant.project.id} FOR UPDATE`
        await tx.$executeRaw`UPDATE money.execution_nodes SET lease = 'taken' WHERE execution = ${nodes[0]!.execution}`
        await tx.$executeRaw`
          SELECT money.close_v1(
            locked => ${[tenant.project.id]}, moment => clock_timestamp(), answer_day => current_date,
            c_id => ${nodes.map((n) => n.reservation)}, c_kind => ${nodes.map(() => 'release')},
            c_usage => ${JSON.stringify(nodes.map(() => ({})))}::jsonb, c_answered => ${nodes.map(() => false)},
            c_reason => ${nodes.map(() => 'test')})`
      }),
    ])
    for (const outcome of outcomes) expect(['admitted', 'fenced']).toContain(codeOf(outcome))
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(0n)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })
})

describe('closing a node’s call', () => {
  test('charges, releases, and tells of each; the record says whose it was', async ({ fixture, replica, tenant }) => {
    const [charged, over, given, never] = await runWith(fixture, tenant, 4)
    for (const node of [charged!, over!, given!]) await codeNow(replica, tenant, node)
    const closings = [settled(charged!, 42), settled(over!, 500), released(given!), released(never!)]
    const first = await closeNodes(replica.reads, [tenant.project.id], closings)
    expect(first).toEqual([
      { outcome: 'settled', chargedMicro: 42, excessMicro: 0 },
      { outcome: 'settled', chargedMicro: 100, excessMicro: 400 },
      { outcome: 'released', chargedMicro: 0, excessMicro: 0 },
      { outcome: 'unknown', chargedMicro: 0, excessMicro: 0 },
    ])
    const again = await closeNodes(replica.reads, [tenant.project.id], closings)
    expect(again.map(({ outcome, chargedMicro }) => [outcome, chargedMicro])).toEqual([
      ['settled', 42],
      ['settled', 100],
      ['released', 0],
      ['unknown', 0],
    ])
    expect(await rowsOf(fixture, 'attempts', charged!.execution)).toMatchObject([
      { node: 'n0', invocation: charged!.call, state: 'Settled', charged_micro: '42', completion_tokens: 42 },
      { node: 'n1', state: 'Settled', charged_micro: '100' },
      { node: 'n2', state: 'Released' },
    ])
    expect(await rowsOf(fixture, 'reservations', charged!.execution)).toEqual([])
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 142n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('an answer that comes after its reservation had ended is the stack’s', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    await codeNow(replica, tenant, node!)
    await closeNodes(replica.reads, [tenant.project.id], [released(node!)])
    const [late] = await closeNodes(replica.reads, [tenant.project.id], [settled(node!, 60)])
    expect(late).toMatchObject({ outcome: 'fenced', chargedMicro: 0 })
    const losses = await fixture.run('SELECT kind, micro FROM money.write_offs WHERE reservation = $1', [
      node!.reservation,
    ])
    expect(losses.rows).toEqual([{ kind: 'fenced', micro: '60' }])
    expect((await walletOf(replica, tenant.project.id)).settled).toBe(0n)
  })

  test('is nobody’s else: what closes direct calls leaves it alone, before and after', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const [node] = await runWith(fixture, tenant)
    await codeNow(replica, tenant, node!)
    const tries = () => [
      replica.settle(node!.reservation),
      replica.release(node!.reservation),
      replica.expire(node!.reservation),
    ]
    expect(await Promise.all(tries())).toEqual(STRANGE)
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
    await closeNodes(replica.reads, [tenant.project.id], [released(node!)])
    expect(await Promise.all(tries())).toEqual(STRANGE)
    expect(
      (await fixture.run('SELECT FROM money.write_offs WHERE reservation = $1', [node!.reservation])).rowCount,
    ).toBe(0)
  })

  test('closes no direct call', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const closings = [{ id: item.id, usage: { promptTokens: 1, completionTokens: 1 } }]
    expect(await closeNodes(replica.reads, [tenant.project.id], closings)).toMatchObject([{ outcome: 'unknown' }])
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
    expect(await replica.settle(item.id)).toEqual({ kind: 'settled', chargedMicro: 10 })
  })

  test('says so where its wallet is not locked', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    await codeNow(replica, tenant, node!)
    expect(await closeNodes(replica.reads, [], [released(node!)])).toMatchObject([{ outcome: 'deferred' }])
  })

  test('is not the maintenance job’s, though the instance has ended and the deadline is over', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const instance = 'ins_of_a_worker'
    await fixture.run(
      `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms) VALUES ($1, 'worker', now(), now(), 3000)`,
      [instance],
    )
    const [node] = await runWith(fixture, tenant)
    const direct = replica.item(tenant.key, tenant.product, { instance })
    await Promise.all([
      replica.admitNode(nodeItem(replica, node!, tenant.product, { instance })),
      replica.admit(direct),
    ])
    await fixture.run('UPDATE money.instances SET ended_at = now() WHERE id = $1', [instance])
    await fixture.run('UPDATE money.reservations SET deadline_at = now() WHERE id = $1', [node!.reservation])
    await reapReservations(replica)
    expect(await rowsOf(fixture, 'reservations', node!.execution)).toHaveLength(1)
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n) // the direct call's was released
  })
})
