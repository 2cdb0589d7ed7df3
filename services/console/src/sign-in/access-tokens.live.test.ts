import { describe, expect } from 'vitest'
import { nameOf } from '@gateway/testbed/fixture'
import { callerOf, consoleTest as test, outcomeOf, untilBlocked, type Caller } from '../console.fixture.ts'

const make = async (by: Caller, path: string, url: string, permissions: string[]) => {
  const answer = await by.post(`${path}/tokens`, { name: 'CI', permissions })
  expect(answer.status).toBe(201)
  return {
    id: answer.body.token.id as string,
    record: answer.body.token,
    program: callerOf(url, answer.body.token.id, answer.body.secret),
  }
}

describe('a token of a project', () => {
  test('has only the permissions it lists, in its project only [not_permitted]', async ({
    stack,
    console,
    fixture,
  }) => {
    const { owner, path, projectPath } = stack
    const { program, record } = await make(owner, projectPath, console.url, ['wallet.read', 'sandboxes.use'])
    expect(record).toMatchObject({
      project: stack.project,
      createdBy: owner.id,
      permissions: ['sandboxes.use', 'wallet.read'],
    })
    expect(JSON.stringify((await owner.get(`${projectPath}/tokens`)).body.data)).toBe(JSON.stringify([record]))
    expect(outcomeOf(await program.get(`${projectPath}/wallet`))).toBe('200')
    const unlisted = await program.get(`${projectPath}/usage`)
    expect(outcomeOf(unlisted)).toBe('403 not_permitted')
    expect(unlisted.body.error.message).toContain('a token with the permission usage.read')
    const other = await fixture.project({ ...stack, owner: owner.id })
    expect(outcomeOf(await program.get(`${path}/projects/${other.id}/wallet`))).toBe('404 not_found')
    const elsewhere = await fixture.tenant()
    expect(outcomeOf(await program.get(`/api/v2/tenants/${elsewhere.tenant}/members`))).toBe('404 not_found')
    expect(outcomeOf(await program.get('/api/v2/me/tokens'))).toBe('403 not_permitted')
    expect(outcomeOf(await program.put('/api/v2/me/password', { password: 'correct horse battery' }))).toBe(
      '403 not_permitted',
    )
    expect((await program.get('/api/v2/tenants')).body.data).toMatchObject([{ id: stack.tenant }])
    expect((await program.get(`${path}/keys`)).body.data).toEqual([])
  })

  test('can read its own identity, permissions, organization and project at /me', async ({ stack, console }) => {
    const { owner, path, projectPath } = stack
    const ofProject = await make(owner, projectPath, console.url, ['wallet.read'])
    const { body: project } = await owner.get(`${path}/projects`)
    const named = { id: stack.project, name: project.data[0].name as string }
    expect((await ofProject.program.get('/api/v2/me')).body).toEqual({
      id: ofProject.id,
      email: '',
      name: 'CI',
      platformOperator: false,
      traceUrl: null,
      permissions: ['wallet.read'],
      scopes: null,
      secondFactor: true,
      tenants: [
        {
          id: stack.tenant,
          name: nameOf(stack.tenant),
          role: 'Member',
          needsSecondFactor: false,
          teams: [],
          projects: [{ ...named, role: 'Project Owner' }],
        },
      ],
    })
    const ofTenant = await make(owner, path, console.url, ['audit.read'])
    expect((await ofTenant.program.get('/api/v2/me')).body).toMatchObject({
      permissions: ['audit.read'],
      tenants: [{ id: stack.tenant, role: 'Admin', projects: [] }],
    })
  })

  test('cannot give access to anyone, even with every permission [not_permitted, key_issuer_denied, invalid_request]', async ({
    stack,
    console,
  }) => {
    const { owner, path, projectPath } = stack
    const everything = [
      'projects.read',
      'projects.change',
      'assignments.read',
      'grants.read',
      'keys.manage',
      'usage.read',
      'wallet.read',
      'sandboxes.use',
    ]
    const { program } = await make(owner, projectPath, console.url, everything)
    const member = await stack.member()
    expect(outcomeOf(await program.post(`${projectPath}/tokens`, { name: 'x', permissions: ['usage.read'] }))).toBe(
      '403 not_permitted',
    )
    expect(outcomeOf(await program.post(`${projectPath}/grants`, { user: member.id, role: 'Project Owner' }))).toBe(
      '403 not_permitted',
    )
    expect(outcomeOf(await program.post(`${path}/invitations`, { email: 'a@example.test' }))).toBe('403 not_permitted')
    expect(outcomeOf(await program.post(`${path}/keys`, { project: stack.project }))).toBe('403 key_issuer_denied')
    const { key } = (await owner.post(`${path}/keys`, { project: stack.project })).body
    expect(outcomeOf(await program.post(`${path}/keys/${key.id}/rotate`, {}))).toBe('403 key_issuer_denied')
    expect(outcomeOf(await program.post(`${path}/keys/${key.id}/revoke`))).toBe('200')
    for (const permissions of [[], ['grants.manage'], ['audit.read'], ['wallet.fund']])
      expect(outcomeOf(await owner.post(`${projectPath}/tokens`, { name: 'x', permissions }))).toBe(
        '400 invalid_request',
      )
    expect(
      outcomeOf(
        await owner.post(`${projectPath}/tokens`, { name: 'x', permissions: ['usage.read'], expiresInDays: 366 }),
      ),
    ).toBe('400 invalid_request')
  })

  test('can create, save and activate flows, and appears in the audit as the user', async ({ stack, console }) => {
    const { owner, path, projectPath } = stack
    const { program, id } = await make(owner, projectPath, console.url, ['sandboxes.use'])
    const sandbox = (await program.post(`${projectPath}/sandboxes`, { name: 'Flow' })).body.id as string
    const { echo } = await import('../sandboxes/graphs.fixture.ts')
    expect(outcomeOf(await program.post(`${path}/sandboxes/${sandbox}/revisions`, { graph: echo }))).toBe('201')
    expect(outcomeOf(await program.post(`${path}/sandboxes/${sandbox}/revisions/1/activate`))).toBe('200')
    const { body } = await owner.get(`${path}/audit?user=${id}`)
    const actions = body.data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(['revision.activate', 'revision.save', 'sandbox.create'])
  })

  test('outlives its creator, and is refused as soon as it is deleted or has expired [token_invalid]', async ({
    stack,
    console,
    fixture,
  }) => {
    const { owner, path, projectPath } = stack
    const maker = await stack.member({ project: 'Project Owner' })
    const { program, id } = await make(maker, projectPath, console.url, ['wallet.read'])
    await owner.delete(`${path}/members/${maker.id}`)
    const read = async () => outcomeOf(await program.get(`${projectPath}/wallet`))
    expect(await read()).toBe('200')
    expect(outcomeOf(await owner.delete(`${projectPath}/tokens/${id}`))).toBe('204')
    expect(await read()).toBe('401 token_invalid')
    expect(outcomeOf(await owner.delete(`${projectPath}/tokens/${id}`))).toBe('404 not_found')
    const expired = await fixture.accessToken(
      { tenant: stack.tenant, project: stack.project, permissions: ['wallet.read'] },
      -1,
    )
    expect(outcomeOf(await callerOf(console.url, expired.id, expired.secret).get(`${projectPath}/wallet`))).toBe(
      '401 token_invalid',
    )
  })
})

describe('a token of an organization', () => {
  test('can create projects and assign products, but cannot see private flows [not_permitted]', async ({
    stack,
    console,
    fixture,
  }) => {
    const { owner, path, projectPath, team } = stack
    const permissions = ['projects.read', 'projects.manage', 'assignments.manage', 'audit.read', 'keys.manage']
    const { program } = await make(owner, path, console.url, permissions)
    const { body: project } = await program.post(`${path}/projects`, { name: 'Made', team })
    expect((await program.get(`${path}/projects`)).body.data.map(({ id }: { id: string }) => id)).toContain(project.id)
    const product = encodeURIComponent(await fixture.product())
    expect(outcomeOf(await program.put(`${path}/projects/${project.id}/assignments/${product}`))).toBe('201')
    expect(outcomeOf(await program.get(`${projectPath}/wallet`))).toBe('403 not_permitted')
    expect(outcomeOf(await program.get(`${projectPath}/sandboxes`))).toBe('404 not_found')
    await owner.post(`${projectPath}/sandboxes`, { name: 'Private' })
    const { body } = await program.get(`${path}/audit?action=sandbox.create`)
    expect(body.data).toMatchObject([{ subject: 'sbx-…' }])
    expect(
      outcomeOf(await owner.post(`${path}/projects/${project.id}/grants`, { user: owner.id, role: 'Project Owner' })),
    ).toBe('201')
  })

  test('can be created only by an Admin [not_permitted]', async ({ stack }) => {
    const member = await stack.member({ project: 'Project Owner' })
    const body = { name: 'x', permissions: ['audit.read'] }
    expect(outcomeOf(await member.post(`${stack.path}/tokens`, body))).toBe('403 not_permitted')
    expect(outcomeOf(await member.get(`${stack.path}/tokens`))).toBe('403 not_permitted')
    const consumer = await stack.member({ project: 'Project Consumer' })
    expect(
      outcomeOf(await consumer.post(`${stack.projectPath}/tokens`, { name: 'x', permissions: ['usage.read'] })),
    ).toBe('403 not_permitted')
  })

  test('cannot be created by an Admin who loses the role while the request waits [not_permitted]', async ({
    stack,
    fixture,
  }) => {
    const admin = await stack.member({ tenant: 'Admin' })
    await fixture.run('BEGIN')
    await fixture.run(`UPDATE control.memberships SET role = 'Member' WHERE user_id = $1`, [admin.id])
    await fixture.run('SELECT FROM control.tenants WHERE id = $1 FOR UPDATE', [stack.tenant])
    const making = admin.post(`${stack.path}/tokens`, { name: 'x', permissions: ['audit.read'] })
    await untilBlocked(fixture)
    await fixture.run('COMMIT')
    expect(outcomeOf(await making)).toBe('403 not_permitted')
  })
})
