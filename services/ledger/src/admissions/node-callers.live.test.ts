import { describe, expect } from 'vitest'
import { codeOf } from '../fixtures/replica.ts'
import { closeNodes, nodeItem, rotateKey, type HeldNode, codeNow, rowsOf, runWith } from '../fixtures/execution-rows.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'

const settled = (node: HeldNode, completionTokens: number) => ({
  id: node.reservation,
  usage: { promptTokens: 10, completionTokens },
})

describe('an execution', () => {
  test('continues to call products after its key is rotated or expires', async ({ fixture, replica, tenant }) => {
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

  test('stops calling products once its key or the newest key of its lineage is revoked [key_revoked]', async ({
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

  test('stops calling products while its key or the newest key of its lineage is paused [key_paused]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const key = await fixture.key({ project: tenant.project, by: tenant.owners.owner })
    const [first, second, third] = await runWith(fixture, tenant, 3, { key: key.id })
    const setPaused = (id: string, at: string) =>
      fixture.run(`UPDATE control.keys SET paused_at = ${at} WHERE id = $1`, [id])
    await setPaused(key.id, 'now()')
    expect(await codeNow(replica, tenant, first!)).toBe('key_paused')
    await setPaused(key.id, 'NULL')
    expect(await codeNow(replica, tenant, second!)).toBe('admitted')
    await setPaused((await rotateKey(fixture, key)).id, 'now()')
    expect(await codeNow(replica, tenant, third!)).toBe('key_paused')
  })

  test('started with a key in its grace period is not stopped by what ended its replacement before', async ({
    fixture,
    replica,
    tenant,
  }) => {
    for (const ended of ['revoked_at', 'paused_at']) {
      const key = await fixture.key({ project: tenant.project, by: tenant.owners.owner })
      const { id } = await rotateKey(fixture, key)
      await fixture.run(`UPDATE control.keys SET ${ended} = now() - interval '1 second' WHERE id = $1`, [id])
      const [node] = await runWith(fixture, tenant, 1, { key: key.id })
      expect(await codeNow(replica, tenant, node!)).toBe('admitted')
    }
  })

  test('started with an access token may call products while the token exists, has not expired and permits it in the project [not_permitted]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const { id: project, tenant: organization } = tenant.project
    const of = { tenant: organization, project, permissions: ['sandboxes.use'] }
    const token = await fixture.accessToken(of)
    const [first, second] = await runWith(fixture, tenant, 2, { user: token.id })
    expect(await codeNow(replica, tenant, first!)).toBe('admitted')
    await fixture.run('DELETE FROM control.access_tokens WHERE id = $1', [token.id])
    expect(await codeNow(replica, tenant, second!)).toBe('not_permitted')
    const other = await openTenant(fixture)
    const useless = [
      await fixture.accessToken({ ...of, permissions: ['usage.read'] }),
      await fixture.accessToken(of, -1),
      await fixture.accessToken({ ...of, tenant: other.project.tenant, project: other.project.id }),
    ]
    for (const { id } of useless) {
      const [node] = await runWith(fixture, tenant, 1, { user: id })
      expect(await codeNow(replica, tenant, node!)).toBe('not_permitted')
    }
  })

  test('stops calling products once the issuer of its key loses the role [key_issuer_denied]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const issuer = await fixture.issuer(tenant.project)
    const key = await fixture.key({ project: tenant.project, by: issuer })
    const [first, second] = await runWith(fixture, tenant, 2, { key: key.id })
    expect(await codeNow(replica, tenant, first!)).toBe('admitted')
    await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [issuer])
    expect(await codeNow(replica, tenant, second!)).toBe('key_issuer_denied')
  })

  test('started in the console has no key and no meter, and stops calling products once the user loses the role [not_permitted]', async ({
    fixture,
    replica,
  }) => {
    const tenant = await openTenant(fixture)
    const user = await fixture.issuer(tenant.project)
    const [first, second, third] = await runWith(fixture, tenant, 3, { user })
    expect(await replica.admitNode(nodeItem(replica, first!, tenant.product))).toMatchObject({
      kind: 'admitted',
      key: '',
    })
    await closeNodes(replica.reads, [tenant.project.id], [settled(first!, 30)])
    expect(await rowsOf(fixture, 'attempts', first!.execution)).toMatchObject([
      { key: '', lineage: '', window_start: null, charged_micro: '30' },
    ])
    await fixture.run(`UPDATE control.project_grants SET role = 'Project Viewer' WHERE user_id = $1`, [user])
    expect(await replica.admitNode(nodeItem(replica, second!, tenant.product))).toMatchObject({
      code: 'not_permitted',
      facts: { need: 'the permission to invoke in this project' },
    })
    await fixture.run(`DELETE FROM control.project_grants WHERE user_id = $1`, [user])
    expect(await codeNow(replica, tenant, third!)).toBe('not_permitted')
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 30n })
    expect((await fixture.run(`SELECT FROM money.meters WHERE lineage = ''`)).rowCount).toBe(0)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('started in the console stops calling products once the user’s membership ends, even if a grant remains [not_permitted]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const user = await fixture.issuer(tenant.project)
    const [first, second] = await runWith(fixture, tenant, 2, { user })
    expect(await codeNow(replica, tenant, first!)).toBe('admitted')
    await fixture.run('DELETE FROM control.memberships WHERE user_id = $1', [user])
    expect(await codeNow(replica, tenant, second!)).toBe('not_permitted')
  })
})

describe('a call of an execution', () => {
  // spec: 1/s7, 7/r16
  test('needs an assigned and published product [product_not_assigned]', async ({ fixture, replica, tenant }) => {
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

  // spec: 8.3/s3
  test('needs the product to be listed if its key lists resources [key_scope]', async ({
    fixture,
    replica,
    tenant,
  }) => {
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
    test(`may use ${kind} products, at their price per request, regardless of the prompt’s length`, async ({
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

  test('must fit the context of a chat product [context_limit]', async ({ fixture, replica, tenant }) => {
    const [node] = await runWith(fixture, tenant)
    const item = nodeItem(replica, node!, tenant.product, { maxTokens: 8_193 })
    expect(codeOf(await replica.admitNode(item))).toBe('context_limit')
  })
})
