import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'
import { echo, unwired } from './graphs.fixture.ts'

// spec: 2.2/s3, 2.3/s18, 4.4/s1
test('creates an empty sandbox product, changes single fields and lists it in its project', async ({ stack }) => {
  const { owner, path, projectPath } = stack
  const made = await owner.post(`${projectPath}/sandboxes`, { name: 'Notes' })
  expect(outcomeOf(made)).toBe('201')
  const id = made.body.id as string
  expect(made.body).toEqual({
    id: expect.stringMatching(/^sbx-[0-9a-z]{26}$/),
    name: 'Notes',
    description: '',
    tags: [],
    project: stack.project,
    activeRevision: null,
    activePackage: null,
    latestRevision: 0,
    mcpEnabled: false,
    suspended: false,
    createdAt: expect.any(String),
  })
  expect((await owner.get(`${path}/sandboxes/${id}`)).body).toEqual(made.body)
  const change = { description: 'Writes notes.\nIn short.', tags: ['writing', 'sales'], mcpEnabled: true }
  expect((await owner.patch(`${path}/sandboxes/${id}`, change)).body).toEqual({ ...made.body, ...change })
  await owner.post(`${projectPath}/sandboxes`, { name: 'Other' })
  const { body } = await owner.get(`${projectPath}/sandboxes`)
  expect(body).toMatchObject({ data: [{ name: 'Other' }, { id, ...change }], nextCursor: null })
})

// spec: 2.3/s1
test.for([
  ['post', {}, 'name'],
  ['post', { name: '' }, 'name'],
  ['post', { name: 'x'.repeat(101) }, 'name'],
  ['post', { name: 'a\u0000b' }, 'name'],
  ['post', { name: 'a', description: 'x'.repeat(2001) }, 'description'],
  ['post', { name: 'a', id: 'sbx-mine' }, 'id'],
  ['post', { name: 'a', project: 'prj_other' }, 'project'],
  ['patch', { mcpEnabled: 'yes' }, 'mcpEnabled'],
  ['patch', { activeRevision: 1 }, 'activeRevision'],
  ['patch', { suspended: null }, 'suspended'],
  ['post', { name: 'a', tags: ['x'.repeat(33)] }, 'tags.0'],
  ['patch', { tags: [''] }, 'tags.0'],
  ['patch', { tags: ['sales, urgent'] }, 'tags.0'],
  ['patch', { tags: ['sales', 'sales '] }, 'tags'],
  ['patch', { tags: Array.from({ length: 11 }, (_, n) => `tag ${n}`) }, 'tags'],
] as const)(
  'rejects a sandbox product %s with %j and names the field [invalid_request]',
  async ([method, body, param], { stack, fixture }) => {
    const { id } = await fixture.sandbox({ id: stack.project }, echo)
    const path = method === 'post' ? `${stack.projectPath}/sandboxes` : `${stack.path}/sandboxes/${id}`
    const answer = await stack.owner[method](path, body)
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
  },
)

// spec: 1/s6, 2.3/s1, 5/s9, 5/s10
test('team and organization roles do not reach a sandbox product, and a role in its project ends with the membership [sandbox_not_found]', async ({
  stack,
  fixture,
}) => {
  const { id } = await fixture.sandbox({ id: stack.project }, echo)
  const at = `${stack.path}/sandboxes/${id}`
  for (const roles of [{ team: 'Team Owner' }, { tenant: 'Admin', team: 'Team Owner' }] as const)
    expect(outcomeOf(await (await stack.member(roles)).get(at))).toBe('404 sandbox_not_found')
  const consumer = await stack.member({ project: 'Project Consumer' })
  expect(outcomeOf(await consumer.get(at))).toBe('200')
  await stack.owner.delete(`${stack.path}/members/${consumer.id}`)
  expect(outcomeOf(await consumer.get(at))).toBe('404 sandbox_not_found')
})

test('the audit shows an Admin who changed a private flow, and only its users which flow and what', async ({
  stack,
  fixture,
}) => {
  const { owner, path, projectPath } = stack
  const secret = 'The merger'
  const { body: made } = await owner.post(`${projectPath}/sandboxes`, { name: secret, description: secret })
  const graph = { ...unwired, nodes: [...echo.nodes, { id: 'note', kind: 'constant', value: secret }] }
  await owner.patch(`${path}/sandboxes/${made.id}`, { name: `${secret}.`, suspended: true })
  await owner.post(`${path}/sandboxes/${made.id}/revisions`, { graph, draft: true })
  await owner.post(`${path}/sandboxes/${made.id}/revisions`, { graph: echo })
  await owner.post(`${path}/sandboxes/${made.id}/revisions/2/activate`)
  let isDeleted = false
  const rowsFor = async (caller: typeof owner) => {
    const { body } = await caller.get(`${path}/audit`)
    const names = body.data.map(({ subjectName }: { subjectName: string | null }) => subjectName)
    expect(new Set(names)).toEqual(new Set([caller === owner && !isDeleted ? `${secret}.` : null]))
    expect(JSON.stringify(body.data.map((entry: object) => ({ ...entry, subjectName: null })))).not.toContain(secret)
    expect(body.data.every(({ user }: { user: string }) => user === owner.id)).toBe(true)
    return body.data
      .map(({ action, subject, details }: Record<string, unknown>) => [action, subject, details])
      .toReversed() as unknown[]
  }
  const admin = await stack.member({ tenant: 'Admin', team: 'Team Owner' })
  expect(await rowsFor(admin)).toEqual(
    ['sandbox.create', 'sandbox.change', 'revision.save', 'revision.save', 'revision.activate'].map((action) => [
      action,
      'sbx-…',
      {},
    ]),
  )
  const change = { fields: ['name', 'suspended'], before: { suspended: false }, after: { suspended: true } }
  const all = [
    ['sandbox.create', made.id, { project: stack.project, mcpEnabled: false, suspended: false }],
    ['sandbox.change', made.id, change],
    ['revision.save', made.id, { revision: 1, draft: true, digest: null }],
    ['revision.save', made.id, { revision: 2, draft: false, digest: expect.any(String) }],
    ['revision.activate', made.id, { revision: 2, before: null, digest: expect.any(String) }],
  ]
  expect(await rowsFor(owner)).toMatchObject(all) // the owner is also an Admin
  expect((await fixture.run('SELECT count(*)::int FROM control.audit WHERE subject = $1', [made.id])).rows).toEqual([
    { count: 5 },
  ])
  await owner.delete(projectPath)
  isDeleted = true
  expect(JSON.stringify(await rowsFor(owner))).not.toContain(made.id)
})

test('an Admin sees that a key lists private flows, but not which ones', async ({ stack, fixture }) => {
  const { id } = await fixture.sandbox({ id: stack.project }, echo)
  const product = await fixture.product()
  await fixture.assign(stack.project, product)
  const body = { project: stack.project, policy: 'listed', resources: [id, product] }
  const { key } = (await stack.owner.post(`${stack.path}/keys`, body)).body
  expect(key.resources).toEqual([product, id])
  const admin = await stack.member({ tenant: 'Admin', project: 'Project Viewer' })
  const hidden = [product, 'sbx-…']
  expect((await admin.get(`${stack.path}/keys/${key.id}`)).body.resources).toEqual(hidden)
  expect((await admin.get(`${stack.path}/keys`)).body.data[0].resources).toEqual(hidden)
  expect((await admin.post(`${stack.path}/keys/${key.id}/revoke`)).body.resources).toEqual(hidden)
  const other = await stack.member({ project: 'Project Owner' })
  expect((await other.get(`${stack.path}/keys/${key.id}`)).body.resources).toEqual([product, id])
})

// spec: 2.1/r5, 7/r5
test("a key can list only the sandbox products of the key's project [resource_not_eligible]", async ({
  stack,
  fixture,
}) => {
  const own = await fixture.sandbox({ id: stack.project }, echo)
  const neighbour = await fixture.project({ tenant: stack.tenant, team: stack.team, owner: stack.owner.id })
  const theirs = await fixture.sandbox(neighbour, echo)
  const create = (resources: string[]) =>
    stack.owner.post(`${stack.path}/keys`, { project: stack.project, policy: 'listed', resources })
  const refused = await create([own.id, theirs.id])
  expect([outcomeOf(refused), refused.body.error.details]).toEqual([
    '422 resource_not_eligible',
    { resources: [theirs.id] },
  ])
  expect((await create([own.id])).body.key.resources).toEqual([own.id])
})

test('deleting a project deletes its sandbox products', async ({ stack, fixture }) => {
  const { id } = await fixture.sandbox({ id: stack.project }, echo)
  expect(outcomeOf(await stack.owner.delete(stack.projectPath))).toBe('204')
  expect(outcomeOf(await stack.owner.get(`${stack.path}/sandboxes/${id}`))).toBe('404 sandbox_not_found')
  expect((await fixture.run('SELECT FROM control.revisions WHERE sandbox = $1', [id])).rowCount).toBe(0)
})
