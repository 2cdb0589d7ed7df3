import { describe, expect } from 'vitest'
import { openReservationReaper } from '../maintenance/reservation-reaper.ts'
import { codeOf } from '../fixtures/replica.ts'
import {
  closeNodes,
  failExecution,
  nodeItem,
  reclaimNodes,
  type HeldNode,
  codeNow,
  rowsOf,
  runWith,
} from '../fixtures/execution-rows.ts'
import { findingsOf, test, walletOf } from '../fixtures/ledger-test.ts'

const settled = (node: HeldNode, completionTokens: number) => ({
  id: node.reservation,
  usage: { promptTokens: 10, completionTokens },
})
/** Outcomes of the closing operations for direct calls, given the id of a node's call. */
const STRANGE = [{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'unknown' }]
const released = (node: HeldNode) => ({ id: node.reservation, usage: null })

describe('an admission under a lease', () => {
  test('is fenced if the node has been reclaimed since', async ({ fixture, replica, other, tenant }) => {
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

  test('is fenced if the node or the execution does not exist', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    for (const strange of [{ node: 'nowhere' }, { execution: 'exe_nowhere' }])
      expect(await replica.admitNode({ ...nodeItem(replica, node!, tenant.product), ...strange })).toEqual({
        kind: 'fenced',
      })
  })

  test('is fenced if the execution is failing or has ended', async ({ fixture, replica, tenant }) => {
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

  test('is fenced once the node’s call is charged, and a second charge is rejected', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const [node] = await runWith(fixture, tenant)
    await codeNow(replica, tenant, node!)
    await closeNodes(replica.reads, [tenant.project.id], [settled(node!, 40)])
    const [again] = await reclaimNodes(fixture, [node!]) // never happens after a result
    expect(await codeNow(replica, tenant, again!)).toBe('fenced')
    await fixture.run(
      `INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, window_start, product, instance, micro,
                                       output_cap, prompt_pico, completion_pico, request_pico, keyed, admitted_at,
                                       deadline_at, execution, node)
       SELECT 'inv_second', invocation, 2, project, key, lineage, window_start, product, instance, 0, 1, 0, 0, 0, false,
              now(), now(), execution, node
         FROM money.attempts WHERE id = $1`,
      [node!.reservation],
    )
    const second = closeNodes(replica.reads, [tenant.project.id], [settled({ ...node!, reservation: 'inv_second' }, 0)])
    await expect(second).rejects.toThrow(/a node is charged once/)
    await fixture.run(`DELETE FROM money.reservations WHERE id = 'inv_second'`)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('leaves nothing reserved if the lease is taken while it waits for the wallet', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const nodes = await runWith(fixture, tenant, 50)
    const rows = JSON.stringify(nodes.map(({ reservation }) => ({ id: reservation, op: 'release', reason: 'test' })))
    // Ending a lease locks the wallet: an admission either came first and is released, or it is fenced.
    const [outcomes] = await Promise.all([
      Promise.all(nodes.map((node) => replica.admitNode(nodeItem(replica, node, tenant.product)))),
      replica.reads.prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT FROM money.wallets WHERE project = ${tenant.project.id} FOR UPDATE`
        await tx.$executeRaw`UPDATE money.execution_nodes SET lease = 'taken' WHERE execution = ${nodes[0]!.execution}`
        await tx.$executeRaw`
          SELECT money.close_node_calls(
            locked => ${[tenant.project.id]}, moment => clock_timestamp(),
            items => ARRAY(SELECT c FROM jsonb_populate_recordset(NULL::money.closing, ${rows}::jsonb) c))`
      }),
    ])
    for (const outcome of outcomes) expect(['admitted', 'fenced']).toContain(codeOf(outcome))
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(0n)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })
})

describe('closing a node’s call', () => {
  test('charges or releases it, returns the same outcome when repeated, and records its node', async ({
    fixture,
    replica,
    tenant,
  }) => {
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

  test('writes off an answer that arrives after its reservation ended', async ({ fixture, replica, tenant }) => {
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

  test('is not possible by settling, releasing or expiring it as a direct call, before or after', async ({
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

  test('returns unknown for a direct call and leaves it open', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const closings = [{ id: item.id, usage: { promptTokens: 1, completionTokens: 1 } }]
    expect(await closeNodes(replica.reads, [tenant.project.id], closings)).toMatchObject([{ outcome: 'unknown' }])
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
    expect(await replica.settle(item.id)).toEqual({ kind: 'settled', chargedMicro: 10 })
  })

  test('is deferred if its wallet is not locked', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    await codeNow(replica, tenant, node!)
    expect(await closeNodes(replica.reads, [], [released(node!)])).toMatchObject([{ outcome: 'deferred' }])
  })

  test('is not done by the reservation reaper, even if the instance has ended and the deadline has passed', async ({
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
    await fixture.run(`UPDATE money.reservations SET deadline_at = now() - interval '1 ms' WHERE id = $1`, [
      node!.reservation,
    ])
    await openReservationReaper(replica, { graceMs: 30_000 }).runOnce()
    expect(await rowsOf(fixture, 'reservations', node!.execution)).toHaveLength(1)
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n) // the reaper released the direct call
  })
})
