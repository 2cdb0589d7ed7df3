import { expect } from 'vitest'
import { consoleTest as test, join, outcomeOf } from '../console.fixture.ts'

// What an Admin can reach by removing people (takeover), and what people can reach after they were removed (leaving).

test('an Admin who removes the owners of a project cannot make anyone its owner at once', async ({ stack }) => {
  const admin = await stack.member({ tenant: 'Admin', team: 'Team Owner' })
  const sandboxes = `${stack.projectPath}/sandboxes`
  await stack.owner.post(sandboxes, { name: 'Private' })
  await admin.delete(`${stack.path}/members/${stack.owner.id}`)
  const appointed = await admin.post(`${stack.projectPath}/grants`, { user: admin.id, role: 'Project Owner' })
  expect(outcomeOf(appointed)).toBe('202')
  expect(outcomeOf(await admin.get(sandboxes))).toBe('404 not_found')
})

test('a removed member who is added again has no roles in projects and teams', async ({ stack }) => {
  const member = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const admin = await stack.member({ tenant: 'Admin' })
  await admin.delete(`${stack.path}/members/${member.id}`)
  await join(admin, stack.path, member)
  expect(outcomeOf(await member.get(`${stack.projectPath}/sandboxes`))).toBe('404 not_found')
  expect(outcomeOf(await member.get(`${stack.projectPath}/wallet`))).toBe('404 not_found')
  const { body } = await stack.owner.get(`${stack.path}/teams/${stack.team}/members`)
  expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(member.id)
})

test("the removal of a project's only owner ends their keys, tokens and webhooks where asked, and says what is left", async ({
  console,
  stack,
  fixture,
}) => {
  const admin = await stack.member({ tenant: 'Admin' })
  const { owner, path, projectPath } = stack
  const { key } = (await owner.post(`${path}/keys`, { project: stack.project })).body
  const token = (await owner.post(`${projectPath}/tokens`, { name: 't', permissions: ['sandboxes.use'] })).body
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at) VALUES ($1, $2, $3, 'k', $4, now())`,
    [fixture.id('whk'), stack.project, 'https://hooks.example.com/secret-path', owner.id],
  )
  const removal = await admin.delete(`${path}/members/${owner.id}?end=keys,tokens`)
  expect([removal.status, removal.body]).toEqual([
    200,
    { ended: { keys: 1, tokens: 1, webhooks: 0 }, left: { keys: 0, tokens: 0, webhooks: 1 } },
  ])
  expect((await admin.get(`${path}/keys/${key.id}`)).body.state).toBe('Revoked')
  const { body: audit } = await admin.get(`${path}/audit?limit=3`)
  expect(audit.data).toMatchObject([
    { action: 'member.remove', subject: owner.id },
    { action: 'access-token.delete', subject: token.token.id, details: { leaver: owner.id } },
    {
      action: 'key.revoke',
      subject: key.id,
      user: admin.id,
      userName: expect.any(String),
      details: { leaver: owner.id },
    },
  ])
  const { status } = await fetch(`${console.url}${projectPath}/sandboxes`, {
    headers: { Authorization: `Bearer ${token.secret}` },
  })
  expect(status).toBe(401)
})

test('an Admin lists and ends all service tokens, webhooks and keys of the organization, by their maker', async ({
  stack,
  fixture,
}) => {
  const admin = await stack.member({ tenant: 'Admin' })
  const { owner, path, projectPath } = stack
  const { key } = (await owner.post(`${path}/keys`, { project: stack.project })).body
  const { token } = (await owner.post(`${projectPath}/tokens`, { name: 't', permissions: ['usage.read'] })).body
  const { token: mine } = (await admin.post(`${path}/tokens`, { name: 't', permissions: ['users.read'] })).body
  const webhook = fixture.id('whk')
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at) VALUES ($1, $2, $3, 'k', $4, now())`,
    [webhook, stack.project, 'https://hooks.example.com/secret-path', owner.id],
  )
  const ids = async (list: string) =>
    (await admin.get(`${path}/${list}createdBy=${owner.id}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await ids('keys?')).toEqual([key.id])
  expect(await ids('tokens?')).toEqual([token.id])
  expect(await ids('webhooks?')).toEqual([webhook])
  expect(await ids('webhooks?project=prj_other&')).toEqual([])
  const all = (await admin.get(`${path}/tokens`)).body.data as { id: string }[]
  expect(all.map(({ id }) => id)).toEqual([mine.id, token.id])
  const { body } = await admin.get(`${path}/webhooks`)
  expect(body.data).toMatchObject([{ project: stack.project, host: 'hooks.example.com', createdBy: owner.id }])
  expect(JSON.stringify(body)).not.toContain('secret-path')
  for (const target of [`tokens/${token.id}`, `webhooks/${webhook}`]) {
    expect(outcomeOf(await admin.delete(`${path}/${target}`))).toBe('204')
    expect(outcomeOf(await admin.delete(`${path}/${target}`))).toBe('404 not_found')
  }
  expect(outcomeOf(await owner.get(`${projectPath}/webhooks`))).toBe('200')
  const { body: audit } = await admin.get(`${path}/audit?user=${admin.id}&limit=2`)
  expect(audit.data).toMatchObject([
    { action: 'webhook.delete', subject: webhook, details: { project: stack.project } },
    { action: 'access-token.delete', subject: token.id, details: { project: stack.project } },
  ])
})

test('a removal ends only what the member made in this organization, all in one transaction', async ({
  stack,
  fixture,
  signIn,
}) => {
  const leaver = await stack.member({ team: 'Team Member', project: 'Project Owner' })
  const { key: kept } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const other = await fixture.tenant()
  await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`, [
    other.tenant,
    leaver.id,
  ])
  const elsewhere = `/api/v2/tenants/${other.tenant}/tokens`
  await leaver.post(elsewhere, { name: 't', permissions: ['users.read'] })
  await leaver.post(`${stack.path}/keys`, { project: stack.project })
  const theirs = (await fixture.project(other)).id
  const [ended, ...left] = [fixture.id('whk'), fixture.id('whk'), fixture.id('whk')]
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
     VALUES ($1, $4, $7, 'k', $6, now()), ($2, $4, $7, 'k', 'usr_1', now()), ($3, $5, $7, 'k', $6, now())`,
    [ended, ...left, stack.project, theirs, leaver.id, 'https://hooks.example.com/'],
  )
  const removal = await stack.owner.delete(`${stack.path}/members/${leaver.id}?end=keys,tokens,webhooks`)
  expect(removal.body).toEqual({
    ended: { keys: 1, tokens: 0, webhooks: 1 },
    left: { keys: 0, tokens: 0, webhooks: 0 },
  })
  const { rows } = await fixture.run('SELECT id FROM money.webhooks WHERE id = ANY ($1)', [[ended, ...left]])
  expect(rows.map(({ id }) => id as string).toSorted()).toEqual(left.toSorted())
  const { body: deleted } = await stack.owner.get(`${stack.path}/audit?action=webhook.delete`)
  expect(deleted.data).toMatchObject([{ subject: ended, details: { project: stack.project, leaver: leaver.id } }])
  expect((await stack.owner.get(`${stack.path}/keys/${kept.id}`)).body.state).toBe('Active')
  expect((await (await signIn({ id: leaver.id })).get(elsewhere)).body.data).toHaveLength(1)
  const { body } = await stack.owner.get(`${stack.path}/audit?action=member.remove`)
  expect(body.data[0].details).toMatchObject({
    role: 'Member',
    grants: [{ project: stack.project, role: 'Project Owner' }],
    teams: [{ team: stack.team, role: 'Team Member' }],
    ended: { keys: 1 },
  })
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/members/${leaver.id}?end=houses`))).toBe(
    '400 invalid_request',
  )
})
