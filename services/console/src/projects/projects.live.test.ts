import { flowLimits } from '@gateway/api/limits'
import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

test('a new project belongs to the team of its creator, who becomes its owner, and has an empty wallet', async ({
  stack,
}) => {
  const made = await stack.owner.post(`${stack.path}/projects`, { name: 'Second' })
  expect(outcomeOf(made)).toBe('201')
  expect(made.body).toMatchObject({ name: 'Second', team: stack.team })
  const path = `${stack.path}/projects/${made.body.id}`
  expect((await stack.owner.get(`${path}/grants`)).body.data).toMatchObject([
    { id: stack.owner.id, role: 'Project Owner' },
  ])
  expect((await stack.owner.get(`${path}/wallet`)).body).toEqual({
    fundedMicro: 0,
    reservedMicro: 0,
    settledMicro: 0,
    availableMicro: 0,
  })
})

test('an Admin who is in no team has to name the team of a new project', async ({ stack }) => {
  const admin = await stack.member({ tenant: 'Admin' })
  const answer = await admin.post(`${stack.path}/projects`, { name: 'Whose' })
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', 'team'])
  expect(outcomeOf(await admin.post(`${stack.path}/projects`, { name: 'Whose', team: stack.team }))).toBe('201')
})

test('lists the projects of their teams and grants to a member, and all projects to an Admin', async ({
  stack,
  fixture,
}) => {
  const apart = await stack.owner.post(`${stack.path}/teams`, { name: 'Apart' })
  const second = await fixture.project({ tenant: stack.tenant, team: apart.body.id, owner: stack.owner.id })
  const listed = async (caller: typeof stack.owner) =>
    (await caller.get(`${stack.path}/projects`)).body.data.map(({ id }: { id: string }) => id).toSorted()
  const both = [stack.project, second.id].toSorted()
  expect(await listed(stack.owner)).toEqual(both)
  expect(await listed(await stack.member())).toEqual([])
  expect(await listed(await stack.member({ team: 'Team Member' }))).toEqual([stack.project])
  expect(await listed(await stack.member({ project: 'Project Viewer' }))).toEqual([stack.project])
})

test('any grant on a project allows reading its money, but being an Admin or in its team does not [not_permitted]', async ({
  stack,
}) => {
  const viewer = await stack.member({ project: 'Project Viewer' })
  const admin = await stack.member({ tenant: 'Admin' })
  const inTeam = await stack.member({ team: 'Team Owner' })
  for (const path of ['wallet', 'usage', 'invocations']) {
    expect(outcomeOf(await viewer.get(`${stack.projectPath}/${path}`))).toBe('200')
    expect(outcomeOf(await admin.get(`${stack.projectPath}/${path}`))).toBe('403 not_permitted')
    expect(outcomeOf(await inTeam.get(`${stack.projectPath}/${path}`))).toBe('403 not_permitted')
  }
})

test('a Project Owner can grant, change and remove the roles of members [not_permitted]', async ({ stack }) => {
  const owner = await stack.member({ project: 'Project Owner' })
  const member = await stack.member()
  const grants = `${stack.projectPath}/grants`
  expect(outcomeOf(await member.get(grants))).toBe('404 not_found')
  expect(outcomeOf(await owner.post(grants, { user: member.id, role: 'Project Consumer' }))).toBe('201')
  expect((await member.get(grants)).body.data).toHaveLength(3)
  expect(outcomeOf(await member.post(grants, { user: member.id, role: 'Project Owner' }))).toBe('403 not_permitted')
  expect(outcomeOf(await owner.post(grants, { user: member.id, role: 'Project Viewer' }))).toBe('200')
  expect(outcomeOf(await owner.post(grants, { user: 'usr_nobody', role: 'Project Viewer' }))).toBe(
    '400 invalid_request',
  )
  expect(outcomeOf(await owner.delete(`${grants}/${member.id}`))).toBe('204')
  expect(outcomeOf(await owner.delete(`${grants}/${member.id}`))).toBe('404 not_found')
  expect(outcomeOf(await member.get(grants))).toBe('404 not_found')
})

test('an Admin can assign published products to a project and unassign them [not_permitted]', async ({
  stack,
  fixture,
}) => {
  const product = await fixture.product({ id: `acme/swift-${stack.project}` })
  const draft = await fixture.product({ state: 'draft' })
  const path = `${stack.projectPath}/assignments`
  const one = `${path}/${encodeURIComponent(product)}`
  const viewer = await stack.member({ project: 'Project Viewer' })
  expect(outcomeOf(await viewer.put(one))).toBe('403 not_permitted')
  expect(outcomeOf(await stack.owner.put(one))).toBe('201')
  expect(outcomeOf(await stack.owner.put(one))).toBe('200')
  expect((await viewer.get(path)).body.data).toMatchObject([{ product, createdBy: stack.owner.id }])
  expect(outcomeOf(await stack.owner.put(`${path}/${encodeURIComponent(draft)}`))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.put(`${path}/never-made`))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.delete(one))).toBe('204')
  expect(outcomeOf(await stack.owner.delete(one))).toBe('404 not_found')
})

test('deleting a project deletes its keys and keeps its wallet', async ({ stack, fixture, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const funding = { fundingId: 'f-1', micro: 1_000 }
  expect(outcomeOf(await operator.post(`${stack.projectPath}/wallet/fundings`, funding))).toBe('201')
  const key = await stack.owner.post(`${stack.path}/keys`, { project: stack.project })
  expect(outcomeOf(key)).toBe('201')
  expect(outcomeOf(await stack.owner.delete(stack.projectPath))).toBe('204')
  expect(outcomeOf(await stack.owner.get(`${stack.path}/keys/${key.body.key.id}`))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.get(`${stack.projectPath}/wallet`))).toBe('404 not_found')
  const { rows } = await fixture.run('SELECT funded FROM money.wallets WHERE project = $1', [stack.project])
  expect(rows).toEqual([{ funded: '1000' }])
  const { body } = await stack.owner.get(`${stack.path}/audit?limit=1`)
  expect(body.data).toMatchObject([{ action: 'project.delete', details: { keys: [key.body.key.id] } }])
})

test('refuses to delete a project with a running execution, and names the longest time that one can take [not_empty]', async ({
  stack,
  fixture,
}) => {
  const execution = fixture.id('exe')
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, created_at, deadline_at)
     VALUES ($1, $2, 'sbx-any', 1, $3, 'invoke', 'Admitted', now(), now() + interval '15 minutes')`,
    [execution, stack.project, stack.owner.id],
  )
  const refused = await stack.owner.delete(stack.projectPath)
  expect(outcomeOf(refused)).toBe('409 not_empty')
  const [, minutes] = /up to (\d+) minutes/.exec(refused.body.error.resolution) ?? []
  expect(Number(minutes) * 60_000).toBeGreaterThan(flowLimits.firstClaimMs + flowLimits.executionMs + 15_000)
})
