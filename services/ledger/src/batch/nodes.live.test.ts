import { describe, expect } from 'vitest'
import type { World } from '@gateway/testbed/world'
import { expireAbandoned } from '../keepers/expire-abandoned.ts'
import { codeOf, countCodes, type Replica } from '../replica.fixture.ts'
import {
  closeNodes,
  failRun,
  insertNodes,
  insertRun,
  nodeItem,
  reclaimNodes,
  rotateKey,
  type HeldNode,
  type Runner,
} from '../run.fixture.ts'
import { findingsOf, openShop, test, walletOf } from '../shop.fixture.ts'

// Paid calls of nodes: admitted in the name of their run, under the lease of their node, and closed with it.

type Shop = Awaited<ReturnType<typeof openShop>>

/** A run of the shop's key, or of somebody else, with so many claimed nodes. */
async function runWith(world: World, shop: Shop, count = 1, by: Runner = { key: shop.key.id }): Promise<HeldNode[]> {
  const execution = await insertRun(world, shop.project.id, by)
  return insertNodes(world, { execution, project: shop.project.id, count })
}

const settled = (node: HeldNode, completionTokens: number) => ({
  id: node.reservation,
  usage: { promptTokens: 10, completionTokens },
})
/** What whoever closes direct calls is told of a node's. */
const STRANGE = [{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'unknown' }]
const released = (node: HeldNode) => ({ id: node.reservation, usage: null })

async function rowsOf(world: World, table: 'reservations' | 'invocations', execution: string) {
  const { rows } = await world.run(`SELECT * FROM money.${table} WHERE execution = $1 ORDER BY attempt, node`, [
    execution,
  ])
  return rows as Record<string, unknown>[]
}

async function codeNow(replica: Replica, shop: Shop, node: HeldNode): Promise<string> {
  return codeOf(await replica.admitNode(nodeItem(replica, node, shop.product)))
}

describe('a node’s call', () => {
  test('is held under its run and node, as an attempt at the node’s call', async ({ world, replica, shop }) => {
    const [first] = await runWith(world, shop)
    const [again] = await reclaimNodes(world, [first!])
    const outcome = await replica.admitNode(nodeItem(replica, again!, shop.product))
    expect(outcome).toEqual({
      kind: 'admitted',
      invocation: first!.call,
      attempt: 2,
      project: shop.project.id,
      key: shop.key.id,
      product: shop.product,
      outputCap: 100,
      reservedMicro: 100,
      routes: [{ origin: 'simulated', model: 'sim' }],
      supportedParameters: expect.arrayContaining(['tools']),
    })
    expect(await rowsOf(world, 'reservations', first!.execution)).toEqual([
      expect.objectContaining({ id: again!.reservation, node: 'n0', lineage: shop.key.id, keyed: false }),
    ])
  })

  test('asked again under its id is the same admission, through another replica too', async ({
    world,
    replica,
    other,
    shop,
  }) => {
    const [node] = await runWith(world, shop)
    const item = nodeItem(replica, node!, shop.product)
    const first = await replica.admitNode(item)
    expect(await other.admitNode(item)).toEqual(first)
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(100n)
  })

  test('200 at once on a wallet that holds 10, through two replicas: exactly 10 [insufficient_budget]', async ({
    world,
    replica,
    other,
  }) => {
    const shop = await openShop(world, 1_050n)
    const nodes = (await Promise.all(Array.from({ length: 10 }, () => runWith(world, shop, 20)))).flat()
    const outcomes = await Promise.all(
      nodes.map((node, n) =>
        (n % 2 ? replica : other).admitNode(nodeItem(n % 2 ? replica : other, node, shop.product)),
      ),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 10, insufficient_budget: 190 })
    expect(await walletOf(replica, shop.project.id)).toEqual({ funded: 1_050n, reserved: 1_000n, settled: 0n })
    // What waits for money in flight sees by the facts that it would fit without what others hold.
    const refused = outcomes.find(({ kind }) => kind === 'refused')
    expect(refused).toMatchObject({ facts: { neededMicro: 100, project: shop.project.id } })
    const { availableMicro, reservedMicro } = (refused as { facts: Record<string, number> }).facts
    expect(availableMicro! + reservedMicro!).toBe(1_050)
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })

  test('beside direct calls of its key, shares the window of the lineage [key_limit]', async ({
    world,
    replica,
    shop,
  }) => {
    const limit = { micro: 777n, reset: 'daily' } as const
    const key = await world.key({ project: shop.project, by: shop.owners.owner, limit })
    const nodes = await runWith(world, shop, 10, { key: key.id })
    const outcomes = await Promise.all([
      ...nodes.map((node) => replica.admitNode(nodeItem(replica, node, shop.product))),
      ...nodes.map(() => replica.admit(replica.item(key, shop.product))),
    ])
    expect(countCodes(outcomes)).toEqual({ admitted: 7, key_limit: 13 })
    expect(outcomes.find(({ kind }) => kind === 'refused')).toMatchObject({
      facts: { limitMicro: 777, spentMicro: 0, reservedMicro: 700, neededMicro: 100, reset: 'daily' },
    })
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })

  test('of a holder that has ended is not held', async ({ world, replica, shop }) => {
    const [node] = await runWith(world, shop)
    const item = nodeItem(replica, node!, shop.product, { holder: 'hol_nobody' })
    expect(await replica.admitNode(item)).toEqual({ kind: 'holder-unknown' })
  })
})

describe('in whose name a run calls', () => {
  test('rotation and expiry of its key don’t stop it', async ({ world, replica, shop }) => {
    const key = await world.key({ project: shop.project, by: shop.owners.owner, expiresInMs: -1_000 })
    const [node] = await runWith(world, shop, 1, { key: key.id })
    const second = await rotateKey(world, key)
    await rotateKey(world, second)
    expect(codeOf(await replica.admit(replica.item(key, shop.product)))).toBe('key_revoked')
    expect(await replica.admitNode(nodeItem(replica, node!, shop.product))).toMatchObject({
      kind: 'admitted',
      key: key.id,
    })
    expect(await rowsOf(world, 'reservations', node!.execution)).toMatchObject([{ key: key.id, lineage: key.id }])
  })

  test('a revocation does, of its own key or of the newest of its lineage [key_revoked]', async ({
    world,
    replica,
    shop,
  }) => {
    const [one] = await runWith(world, shop)
    const other = await world.key({ project: shop.project, by: shop.owners.owner })
    const [two, later] = await runWith(world, shop, 2, { key: other.id })
    const newest = await rotateKey(world, await rotateKey(world, other))
    expect(await codeNow(replica, shop, later!)).toBe('admitted')
    await world.run('UPDATE control.keys SET revoked_at = now() WHERE id = ANY ($1)', [[shop.key.id, newest.id]])
    for (const node of [one!, two!])
      expect(await replica.admitNode(nodeItem(replica, node, shop.product))).toMatchObject({
        kind: 'refused',
        code: 'key_revoked',
        facts: { rotatedTo: null },
      })
  })

  test('so does its issuer’s loss of the role [key_issuer_denied]', async ({ world, replica, shop }) => {
    const issuer = await world.issuer(shop.project)
    const key = await world.key({ project: shop.project, by: issuer })
    const [first, second] = await runWith(world, shop, 2, { key: key.id })
    expect(await codeNow(replica, shop, first!)).toBe('admitted')
    await world.run('DELETE FROM control.project_grants WHERE person = $1', [issuer])
    expect(await codeNow(replica, shop, second!)).toBe('key_issuer_denied')
  })

  test('a person’s in the console has no key and no meter, and lasts as long as the role [not_permitted]', async ({
    world,
    replica,
  }) => {
    const shop = await openShop(world)
    const person = await world.issuer(shop.project)
    const [first, second, third] = await runWith(world, shop, 3, { person })
    expect(await replica.admitNode(nodeItem(replica, first!, shop.product))).toMatchObject({
      kind: 'admitted',
      key: '',
    })
    await closeNodes(replica.reads, [shop.project.id], [settled(first!, 30)])
    expect(await rowsOf(world, 'invocations', first!.execution)).toMatchObject([
      { key: '', lineage: '', window_start: null, charged_micro: '30' },
    ])
    await world.run(`UPDATE control.project_grants SET role = 'Project Viewer' WHERE person = $1`, [person])
    expect(await replica.admitNode(nodeItem(replica, second!, shop.product))).toMatchObject({
      code: 'not_permitted',
      facts: { need: expect.stringMatching(/Project Owner or Project Consumer/) },
    })
    await world.run(`DELETE FROM control.project_grants WHERE person = $1`, [person])
    expect(await codeNow(replica, shop, third!)).toBe('not_permitted')
    expect(await walletOf(replica, shop.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 30n })
    expect((await world.run(`SELECT FROM money.meters WHERE lineage = ''`)).rowCount).toBe(0)
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })
})

describe('what a run may call', () => {
  test('is assigned and published [product_not_assigned]', async ({ world, replica, shop }) => {
    const draft = await world.product({ state: 'draft' })
    await world.assign(shop.project.id, draft)
    const elsewhere = await world.product()
    const nodes = await runWith(world, shop, 3)
    for (const [n, model] of [draft, elsewhere, 'acme/nothing'].entries())
      expect(await replica.admitNode(nodeItem(replica, nodes[n]!, model))).toMatchObject({
        code: 'product_not_assigned',
        facts: { product: model },
      })
  })

  test('is listed, where its key lists [key_scope]', async ({ world, replica, shop }) => {
    const other = await world.product({ promptPico: 0n, completionPico: 1_000_000n })
    await world.assign(shop.project.id, other)
    const by = shop.owners.owner
    const key = await world.key({ project: shop.project, by, policy: 'listed', resources: [shop.product] })
    const [first, second] = await runWith(world, shop, 2, { key: key.id })
    await rotateKey(world, key)
    expect(await codeNow(replica, shop, first!)).toBe('admitted')
    expect(await replica.admitNode(nodeItem(replica, second!, other))).toMatchObject({
      code: 'key_scope',
      facts: { resource: other },
    })
  })

  for (const kind of ['image', 'audio'] as const)
    test(`includes ${kind} products, at their price per request whatever the prompt’s length`, async ({
      world,
      replica,
      shop,
    }) => {
      const product = await world.product({ kind, requestPico: 40_000_000_000n, contextLength: 10, maxOutputTokens: 1 })
      await world.assign(shop.project.id, product)
      const [node] = await runWith(world, shop)
      const measures = { bytes: 60_000, messages: 1, tools: 0, images: 0, counted: null, maxTokens: null }
      const item = nodeItem(replica, node!, product, { measures })
      expect(await replica.admitNode(item)).toMatchObject({ kind: 'admitted', reservedMicro: 40_000 })
      const [closed] = await closeNodes(replica.reads, [shop.project.id], [settled(node!, 0)])
      expect(closed).toEqual({ outcome: 'settled', chargedMicro: 40_000, excessMicro: 0 })
      expect(codeOf(await replica.admit(replica.item(shop.key, product)))).toBe('model_not_found')
    })

  test('is bounded by a chat product’s context [context_limit]', async ({ world, replica, shop }) => {
    const [node] = await runWith(world, shop)
    const item = nodeItem(replica, node!, shop.product, { maxTokens: 8_193 })
    expect(codeOf(await replica.admitNode(item))).toBe('context_limit')
  })
})

describe('a lease', () => {
  test('that is another’s now holds nothing: fenced', async ({ world, replica, other, shop }) => {
    const [lost] = await runWith(world, shop)
    const item = nodeItem(replica, lost!, shop.product)
    const [held] = await reclaimNodes(world, [lost!])
    expect(await replica.admitNode(item)).toEqual({ kind: 'fenced' })
    expect(await replica.admitNode({ ...item, lease: held!.lease })).toEqual({ kind: 'fenced' }) // the old attempt's id
    expect(await other.admitNode(nodeItem(other, held!, shop.product))).toMatchObject({ kind: 'admitted', attempt: 2 })
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(100n)
  })

  test('of a node or a run that the books don’t know is fenced', async ({ world, replica, shop }) => {
    const [node] = await runWith(world, shop)
    for (const strange of [{ node: 'nowhere' }, { execution: 'exe_nowhere' }])
      expect(await replica.admitNode({ ...nodeItem(replica, node!, shop.product), ...strange })).toEqual({
        kind: 'fenced',
      })
  })

  test('of a run that has begun to fail or has ended is fenced', async ({ world, replica, shop }) => {
    const [failing] = await runWith(world, shop)
    await failRun(world, failing!.execution)
    const [ended] = await runWith(world, shop)
    await world.run(
      `UPDATE money.executions SET status = 'Succeeded', output = '{}', completed_at = now() WHERE id = $1`,
      [ended!.execution],
    )
    for (const node of [failing!, ended!]) expect(await codeNow(replica, shop, node)).toBe('fenced')
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(0n)
  })

  test('whose call is charged already is fenced, and the table takes no second charge', async ({
    world,
    replica,
    shop,
  }) => {
    const [node] = await runWith(world, shop)
    await codeNow(replica, shop, node!)
    await closeNodes(replica.reads, [shop.project.id], [settled(node!, 40)])
    const [again] = await reclaimNodes(world, [node!]) // as nobody does after a result
    expect(await codeNow(replica, shop, again!)).toBe('fenced')
    const second = world.run(
      `INSERT INTO money.invocations (id, invocation, attempt, state, project, execution, node, closed_at)
       VALUES ('inv_second', 'inv_second', 2, 'Settled', $1, $2, $3, now())`,
      [shop.project.id, node!.execution, node!.node],
    )
    await expect(second).rejects.toThrow(/one_charge_a_node/)
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })

  test('that is taken while its admission waits for the wallet leaves nothing held', async ({
    world,
    replica,
    shop,
  }) => {
    const nodes = await runWith(world, shop, 50)
    // Who ends a lease holds the wallet; either the admission came first and is released, or it is fenced.
    const [outcomes] = await Promise.all([
      Promise.all(nodes.map((node) => replica.admitNode(nodeItem(replica, node, shop.product)))),
      replica.reads.prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT FROM money.wallets WHERE project = ${shop.project.id} FOR UPDATE`
        await tx.$executeRaw`UPDATE money.execution_nodes SET lease = 'taken' WHERE execution = ${nodes[0]!.execution}`
        await tx.$executeRaw`
          SELECT money.close_v1(${[shop.project.id]}, clock_timestamp(), current_date, ${nodes.map((n) => n.reservation)},
            ${nodes.map(() => 'release')}, ${nodes.map(() => null)}::int[], ${nodes.map(() => null)}::int[],
            ${nodes.map(() => null)}::boolean[], ${nodes.map(() => false)}, ${nodes.map(() => 'test')})`
      }),
    ])
    for (const outcome of outcomes) expect(['admitted', 'fenced']).toContain(codeOf(outcome))
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(0n)
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })
})

describe('closing a node’s call', () => {
  test('charges, releases, and tells of each; the record says whose it was', async ({ world, replica, shop }) => {
    const [charged, over, given, never] = await runWith(world, shop, 4)
    for (const node of [charged!, over!, given!]) await codeNow(replica, shop, node)
    const closings = [settled(charged!, 42), settled(over!, 500), released(given!), released(never!)]
    const first = await closeNodes(replica.reads, [shop.project.id], closings)
    expect(first).toEqual([
      { outcome: 'settled', chargedMicro: 42, excessMicro: 0 },
      { outcome: 'settled', chargedMicro: 100, excessMicro: 400 },
      { outcome: 'released', chargedMicro: 0, excessMicro: 0 },
      { outcome: 'unknown', chargedMicro: 0, excessMicro: 0 },
    ])
    const again = await closeNodes(replica.reads, [shop.project.id], closings)
    expect(again.map(({ outcome, chargedMicro }) => [outcome, chargedMicro])).toEqual([
      ['settled', 42],
      ['settled', 100],
      ['released', 0],
      ['unknown', 0],
    ])
    expect(await rowsOf(world, 'invocations', charged!.execution)).toMatchObject([
      { node: 'n0', invocation: charged!.call, state: 'Settled', charged_micro: '42', completion_tokens: 42 },
      { node: 'n1', state: 'Settled', charged_micro: '100' },
      { node: 'n2', state: 'Released' },
    ])
    expect(await rowsOf(world, 'reservations', charged!.execution)).toEqual([])
    expect(await walletOf(replica, shop.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 142n })
    expect(await findingsOf(replica, shop.project.id)).toEqual([])
  })

  test('an answer that comes after its hold had ended is the house’s', async ({ world, replica, shop }) => {
    const [node] = await runWith(world, shop)
    await codeNow(replica, shop, node!)
    await closeNodes(replica.reads, [shop.project.id], [released(node!)])
    const [late] = await closeNodes(replica.reads, [shop.project.id], [settled(node!, 60)])
    expect(late).toMatchObject({ outcome: 'fenced', chargedMicro: 0 })
    const losses = await world.run('SELECT kind, micro FROM money.house_losses WHERE reservation = $1', [
      node!.reservation,
    ])
    expect(losses.rows).toEqual([{ kind: 'fenced', micro: '60' }])
    expect((await walletOf(replica, shop.project.id)).settled).toBe(0n)
  })

  test('is nobody’s else: what closes direct calls leaves it alone, before and after', async ({
    world,
    replica,
    shop,
  }) => {
    const [node] = await runWith(world, shop)
    await codeNow(replica, shop, node!)
    const tries = () => [
      replica.settle(node!.reservation),
      replica.release(node!.reservation),
      replica.expire(node!.reservation),
    ]
    expect(await Promise.all(tries())).toEqual(STRANGE)
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(100n)
    await closeNodes(replica.reads, [shop.project.id], [released(node!)])
    expect(await Promise.all(tries())).toEqual(STRANGE)
    expect(
      (await world.run('SELECT FROM money.house_losses WHERE reservation = $1', [node!.reservation])).rowCount,
    ).toBe(0)
  })

  test('closes no direct call', async ({ replica, shop }) => {
    const item = replica.item(shop.key, shop.product)
    await replica.admit(item)
    const closings = [{ id: item.id, usage: { promptTokens: 1, completionTokens: 1 } }]
    expect(await closeNodes(replica.reads, [shop.project.id], closings)).toMatchObject([{ outcome: 'unknown' }])
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(100n)
    expect(await replica.settle(item.id)).toEqual({ kind: 'settled', chargedMicro: 10 })
  })

  test('says so where its wallet is not locked', async ({ world, replica, shop }) => {
    const [node] = await runWith(world, shop)
    await codeNow(replica, shop, node!)
    expect(await closeNodes(replica.reads, [], [released(node!)])).toMatchObject([{ outcome: 'deferred' }])
  })

  test('is not the keeper’s, though the holder has ended and the deadline is over', async ({
    world,
    replica,
    shop,
  }) => {
    const holder = 'hol_of_a_worker'
    await world.run(
      `INSERT INTO money.holders (id, service, started_at, beat_at, dead_after_ms) VALUES ($1, 'worker', now(), now(), 3000)`,
      [holder],
    )
    const [node] = await runWith(world, shop)
    const direct = replica.item(shop.key, shop.product, { holder })
    await Promise.all([replica.admitNode(nodeItem(replica, node!, shop.product, { holder })), replica.admit(direct)])
    await world.run('UPDATE money.holders SET ended_at = now() WHERE id = $1', [holder])
    await world.run('UPDATE money.reservations SET deadline_at = now() WHERE id = $1', [node!.reservation])
    await expireAbandoned({ database: replica.reads, lanes: replica.lanes })()
    expect(await rowsOf(world, 'reservations', node!.execution)).toHaveLength(1)
    expect((await walletOf(replica, shop.project.id)).reserved).toBe(100n) // the direct call's was released
  })
})
