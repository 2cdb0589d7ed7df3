import { expect } from 'vitest'
import { consoleTest as test, said } from '../console.fixture.ts'

test('a project belongs to the team of its creator, who owns it, and its wallet is empty', async ({ house }) => {
  const made = await house.owner.post(`${house.path}/projects`, { name: 'Second' })
  expect(said(made)).toBe('201')
  expect(made.body).toMatchObject({ name: 'Second', team: house.team })
  const path = `${house.path}/projects/${made.body.id}`
  expect((await house.owner.get(`${path}/grants`)).body.data).toMatchObject([
    { id: house.owner.id, role: 'Project Owner' },
  ])
  expect((await house.owner.get(`${path}/wallet`)).body).toEqual({
    fundedMicro: 0,
    reservedMicro: 0,
    settledMicro: 0,
    availableMicro: 0,
  })
})

test('an Admin in no team has to name one', async ({ house }) => {
  const admin = await house.member({ tenant: 'Admin' })
  const answer = await admin.post(`${house.path}/projects`, { name: 'Whose' })
  expect([said(answer), answer.body.error.param]).toEqual(['400 invalid_request', 'team'])
  expect(said(await admin.post(`${house.path}/projects`, { name: 'Whose', team: house.team }))).toBe('201')
})

test('a member sees the projects of its teams and those it was granted, an Admin all', async ({ house, world }) => {
  const apart = await house.owner.post(`${house.path}/teams`, { name: 'Apart' })
  const second = await world.project({ tenant: house.tenant, team: apart.body.id, owner: house.owner.id })
  const listed = async (caller: typeof house.owner) =>
    (await caller.get(`${house.path}/projects`)).body.data.map(({ id }: { id: string }) => id).toSorted()
  const both = [house.project, second.id].toSorted()
  expect(await listed(house.owner)).toEqual(both)
  expect(await listed(await house.member())).toEqual([])
  expect(await listed(await house.member({ team: 'Team Member' }))).toEqual([house.project])
  expect(await listed(await house.member({ project: 'Project Viewer' }))).toEqual([house.project])
})

test("a project a member has nothing to do with can't be told from one that never existed [not_found]", async ({
  house,
}) => {
  const member = await house.member()
  for (const path of ['grants', 'assignments', 'wallet', 'usage', 'invocations', 'invocations/inv_x']) {
    const answers = await Promise.all(
      [house.project, 'prj_00000000000000000000000000'].map((id) => member.get(`${house.path}/projects/${id}/${path}`)),
    )
    expect(answers.map(said)).toEqual(['404 not_found', '404 not_found'])
    expect(answers[0]!.body).toEqual(answers[1]!.body)
  }
})

test('another project of another organization is nothing under my path [not_found]', async ({ house, world }) => {
  const other = await world.project(await world.tenant())
  for (const path of ['grants', 'assignments', 'wallet', 'usage', 'invocations'])
    expect(said(await house.owner.get(`${house.path}/projects/${other.id}/${path}`))).toBe('404 not_found')
})

test('money is read with any grant on the project; organization administration is none [not_permitted]', async ({
  house,
}) => {
  const viewer = await house.member({ project: 'Project Viewer' })
  const admin = await house.member({ tenant: 'Admin' })
  const inTeam = await house.member({ team: 'Team Owner' })
  for (const path of ['wallet', 'usage', 'invocations']) {
    expect(said(await viewer.get(`${house.projectPath}/${path}`))).toBe('200')
    expect(said(await admin.get(`${house.projectPath}/${path}`))).toBe('403 not_permitted')
    expect(said(await inTeam.get(`${house.projectPath}/${path}`))).toBe('403 not_permitted')
  }
})

test('a Project Owner grants, changes and takes back roles of members [not_permitted]', async ({ house }) => {
  const owner = await house.member({ project: 'Project Owner' })
  const member = await house.member()
  const grants = `${house.projectPath}/grants`
  expect(said(await member.get(grants))).toBe('404 not_found')
  expect(said(await owner.post(grants, { person: member.id, role: 'Project Consumer' }))).toBe('201')
  expect((await member.get(grants)).body.data).toHaveLength(3)
  expect(said(await member.post(grants, { person: member.id, role: 'Project Owner' }))).toBe('403 not_permitted')
  expect(said(await owner.post(grants, { person: member.id, role: 'Project Viewer' }))).toBe('200')
  expect(said(await owner.post(grants, { person: 'per_nobody', role: 'Project Viewer' }))).toBe('400 invalid_request')
  expect(said(await owner.delete(`${grants}/${member.id}`))).toBe('204')
  expect(said(await owner.delete(`${grants}/${member.id}`))).toBe('404 not_found')
  expect(said(await member.get(grants))).toBe('404 not_found')
})

test('an Admin assigns published products, and takes them away [not_permitted]', async ({ house, world }) => {
  const product = await world.product({ id: `acme/swift-${house.project}` })
  const draft = await world.product({ state: 'draft' })
  const path = `${house.projectPath}/assignments`
  const one = `${path}/${encodeURIComponent(product)}`
  const viewer = await house.member({ project: 'Project Viewer' })
  expect(said(await viewer.put(one))).toBe('403 not_permitted')
  expect(said(await house.owner.put(one))).toBe('201')
  expect(said(await house.owner.put(one))).toBe('200')
  expect((await viewer.get(path)).body.data).toMatchObject([{ product, createdBy: house.owner.id }])
  expect(said(await house.owner.put(`${path}/${encodeURIComponent(draft)}`))).toBe('404 not_found')
  expect(said(await house.owner.put(`${path}/never-made`))).toBe('404 not_found')
  expect(said(await house.owner.delete(one))).toBe('204')
  expect(said(await house.owner.delete(one))).toBe('404 not_found')
})

test('a deleted project takes its keys with it and leaves its money on the books', async ({ house, world, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const funding = { fundingId: 'f-1', micro: 1_000 }
  expect(said(await operator.post(`${house.projectPath}/wallet/fundings`, funding))).toBe('201')
  const key = await house.owner.post(`${house.path}/keys`, { project: house.project })
  expect(said(key)).toBe('201')
  expect(said(await house.owner.delete(house.projectPath))).toBe('204')
  expect(said(await house.owner.get(`${house.path}/keys/${key.body.key.id}`))).toBe('404 not_found')
  expect(said(await house.owner.get(`${house.projectPath}/wallet`))).toBe('404 not_found')
  const { rows } = await world.run('SELECT funded FROM money.wallets WHERE project = $1', [house.project])
  expect(rows).toEqual([{ funded: '1000' }])
  const { body } = await house.owner.get(`${house.path}/audit?limit=1`)
  expect(body.data).toMatchObject([{ action: 'project.delete', details: { keys: [key.body.key.id] } }])
})
