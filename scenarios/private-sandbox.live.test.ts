import { expect } from 'vitest'
import { callerAt } from './src/caller.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'

// A sandbox product belongs to its project alone: no other caller ever sees a difference.

// spec: 2.3/s2, 2.3/s3
test('creating, saving, activating and running a sandbox product shows nothing to other callers', async ({ stack }) => {
  const { fixture, gateways } = stack
  const url = gateways[0]!.url
  const of = await fixture.tenant()
  const [own, neighbour] = [await fixture.project(of, 1_000_000n), await fixture.project(of)]
  const owner = callerAt(url, (await fixture.token(of.owner)).secret)
  const admin = callerAt(url, (await fixture.token(await adminOf(of.tenant))).secret)
  const operator = callerAt(url, (await fixture.token(await fixture.user({ platformOperator: true }))).secret)
  const keyOf = async (project: typeof own) => callerAt(url, (await fixture.key({ project, by: of.owner })).secret)
  const [ownKey, neighbourKey] = [await keyOf(own), await keyOf(neighbour)]
  const tenantPath = `/api/v2/tenants/${of.tenant}`

  /** Everything others can list: the catalog as operators and members see it, and the neighbor's models, resources and assignments. */
  const seenByOthers = () =>
    Promise.all([
      everyPage(operator, '/api/v2/products'),
      everyPage(admin, '/api/v2/products'),
      neighbourKey.ask('GET', '/v1/models').then(({ text }) => text),
      everyPage(owner, `${tenantPath}/projects/${neighbour.id}/sandboxes`),
      everyPage(admin, `${tenantPath}/projects/${neighbour.id}/assignments`),
      everyPage(admin, `${tenantPath}/projects/${own.id}/assignments`),
    ])
  const models = async () =>
    ((await ownKey.ask('GET', '/v1/models')).body as { data: { id: string }[] }).data.map(({ id }) => id)

  const before = await seenByOthers()
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const graph = {
    input: text,
    output: text,
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'out', kind: 'output' },
    ],
    edges: [{ from: 'in.text', to: 'out.text' }],
  }
  const { body: made } = await owner.ask('POST', `${tenantPath}/projects/${own.id}/sandboxes`, {
    name: 'Private notes',
  })
  const path = `${tenantPath}/sandboxes/${made.id}`
  expect((await owner.ask('POST', `${path}/revisions`, { graph })).status).toBe(201)
  expect(await models()).toEqual([])
  expect((await owner.ask('POST', `${path}/revisions/1/activate`)).status).toBe(200)
  const run = await owner.ask('POST', `${path}/execute`, { input: { text: 'Hello' } })
  expect(run.body).toMatchObject({ status: 'Succeeded', output: { text: 'Hello' } })

  expect(await models()).toEqual([made.id])
  expect(await seenByOthers()).toEqual(before)

  async function adminOf(tenant: string): Promise<string> {
    const user = await fixture.user()
    await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`, [
      tenant,
      user,
    ])
    return user
  }
})

async function everyPage(caller: ReturnType<typeof callerAt>, path: string): Promise<unknown[]> {
  const rows: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await caller.ask(
      'GET',
      `${path}?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    expect(status).toBe(200)
    rows.push(...(body as { data: unknown[] }).data)
    cursor = (body as { nextCursor: string | null }).nextCursor
  }
  return rows
}
