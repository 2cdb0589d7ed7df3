import { expect } from 'vitest'
import { callerOf, consoleTest as test, said, untilSomebodyWaits, type Caller } from '../console.fixture.ts'

// The console from the side of somebody who wants more than they were given.

test.for([
  ['a member', {}],
  ['a Team Owner', { team: 'Team Owner' }],
  ['a Project Viewer', { project: 'Project Viewer' }],
  ['a Project Consumer', { team: 'Team Member', project: 'Project Consumer' }],
  ['a Project Owner', { team: 'Team Owner', project: 'Project Owner' }],
] as const)('%s makes nobody Admin, not themselves either [not_permitted]', async ([, roles], { house }) => {
  const me = await house.member(roles)
  const email = `${me.id}@example.test`
  const tries = await Promise.all([
    me.post(`${house.path}/members`, { email, role: 'Admin' }),
    me.post(`${house.path}/members`, { person: me.id, role: 'Admin' }),
    me.post(`${house.path}/members`, { email: `fresh.${email}`, role: 'Admin', password: 'of my own choice' }),
    me.post(`${house.path}/teams`, { name: 'Mine' }),
    me.post(`${house.path}/teams/${house.team}/members`, { person: me.id, role: 'Team Owner' }),
    me.post(`${house.path}/projects`, { name: 'Mine', team: house.team }),
    me.put(`${house.projectPath}/assignments/acme%2Fswift`),
    me.post(`/api/v2/tenants`, { name: 'Mine' }),
    me.post(`/api/v2/products`, {}),
    me.post(`${house.projectPath}/wallet/fundings`, { fundingId: 'mine', micro: 1 }),
  ])
  for (const each of tries) expect(said(each)).toMatch(/^(403 not_permitted|404 not_found)$/)
  expect((await me.get('/api/v2/me')).body.tenants).toMatchObject([{ role: 'Member' }])
})

test.for([
  ['a Project Consumer', { team: 'Team Owner', project: 'Project Consumer' }],
  ['a Project Viewer', { project: 'Project Viewer' }],
  ['a Team Owner', { team: 'Team Owner' }],
] as const)('%s grants nobody a role on a project [not_permitted]', async ([, roles], { house }) => {
  const me = await house.member(roles)
  const grants = `${house.projectPath}/grants`
  const tries = await Promise.all([
    me.post(grants, { person: me.id, role: 'Project Owner' }),
    me.post(grants, { person: house.owner.id, role: 'Project Viewer' }),
    me.delete(`${grants}/${house.owner.id}`),
  ])
  expect(tries.map(said)).toEqual(Array(3).fill('403 not_permitted'))
})

test('an Admin who takes a role on a project is seen to have taken it', async ({ house }) => {
  const admin = await house.member({ tenant: 'Admin' })
  const role = { person: admin.id, role: 'Project Owner' }
  expect(said(await admin.post(`${house.projectPath}/grants`, role))).toBe('201')
  const { body } = await house.owner.get(`${house.path}/audit?limit=1`)
  const details = { ...role, before: null }
  expect(body.data).toMatchObject([{ action: 'grant.set', person: admin.id, subject: house.project, details }])
})

test.for([
  ['an Admin', { tenant: 'Admin' }],
  ['an Admin in the team', { tenant: 'Admin', team: 'Team Owner' }],
  ['a Project Owner outside the team', { project: 'Project Owner' }],
] as const)(
  "%s takes no secret by rotating another's key, and may revoke it [key_issuer_denied]",
  async ([, roles], { house }) => {
    const me = await house.member(roles)
    const { key } = (await house.owner.post(`${house.path}/keys`, { project: house.project })).body
    expect(said(await me.post(`${house.path}/keys`, { project: house.project }))).toBe('403 key_issuer_denied')
    const rotated = await me.post(`${house.path}/keys/${key.id}/rotate`)
    expect([said(rotated), rotated.body.secret]).toEqual(['403 key_issuer_denied', undefined])
    expect((await house.owner.get(`${house.path}/keys/${key.id}`)).body.state).toBe('Active')
    expect((await me.post(`${house.path}/keys/${key.id}/revoke`)).body.state).toBe('Revoked')
  },
)

test("who holds all three requirements may rotate a colleague's key of a project they own", async ({ house }) => {
  const colleague = await house.member({ team: 'Team Member', project: 'Project Owner' })
  const { key } = (await house.owner.post(`${house.path}/keys`, { project: house.project })).body
  const rotated = await colleague.post(`${house.path}/keys/${key.id}/rotate`)
  expect([said(rotated), rotated.body.key.createdBy]).toEqual(['201', house.owner.id])
})

test('no body says more than it may: every field that is not asked for is refused by name [invalid_request]', async ({
  house,
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const member = await house.member()
  const { body: made } = await house.owner.post(`${house.path}/keys`, { project: house.project })
  const writes: [Caller, 'post' | 'put' | 'patch', string, object][] = [
    [member, 'put', '/api/v2/me/password', { password: 'long enough for it' }],
    [member, 'post', '/api/v2/me/tokens', { name: 'mine' }],
    [operator, 'post', '/api/v2/tenants', { name: 'New' }],
    [house.owner, 'post', `${house.path}/members`, { email: 'somebody.new@example.test' }],
    [house.owner, 'post', `${house.path}/teams`, { name: 'New' }],
    [house.owner, 'post', `${house.path}/teams/${house.team}/members`, { person: member.id }],
    [house.owner, 'post', `${house.path}/projects`, { name: 'New' }],
    [house.owner, 'post', `${house.projectPath}/grants`, { person: member.id, role: 'Project Viewer' }],
    [house.owner, 'post', `${house.path}/keys`, { project: house.project }],
    [house.owner, 'post', `${house.path}/keys/${made.key.id}/rotate`, {}],
    [operator, 'post', `${house.projectPath}/wallet/fundings`, { fundingId: 'f', micro: 1 }],
    [operator, 'patch', '/api/v2/products/acme%2Fnone', {}],
  ]
  const extras = [
    'id',
    'tenant',
    'createdBy',
    'platformOperator',
    'passwordHash',
    'vouchedBy',
    'hash',
    'lineage',
    'createdAt',
  ]
  for (const [caller, method, path, body] of writes)
    for (const extra of extras) {
      const answer = await caller[method](path, { ...body, [extra]: extra === 'platformOperator' ? true : 'x' })
      expect([path, said(answer), answer.body.error.param]).toEqual([path, '400 invalid_request', extra])
    }
  expect((await member.get('/api/v2/me')).body.platformOperator).toBe(false)
})

test('who loses a right while asking passes nothing on any more [not_permitted]', async ({ house, world }) => {
  const leaving = await house.member({ project: 'Project Owner' })
  const accomplice = await house.member()
  const admin = await house.member({ tenant: 'Admin' })
  // Both requests have passed the door when the rights are taken away, and wait for their turn.
  await world.run('BEGIN')
  await world.run('SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE', [house.tenant])
  const grant = leaving.post(`${house.projectPath}/grants`, { person: accomplice.id, role: 'Project Owner' })
  await untilSomebodyWaits(world)
  await world.run('DELETE FROM control.project_grants WHERE person = $1', [leaving.id])
  await world.run('COMMIT')
  expect(said(await grant)).toBe('404 not_found')

  await world.run('BEGIN')
  await world.run('SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE', [house.tenant])
  const raise = admin.post(`${house.path}/members`, { person: accomplice.id, role: 'Admin' })
  await untilSomebodyWaits(world)
  await world.run(`UPDATE control.memberships SET role = 'Member' WHERE person = $1`, [admin.id])
  await world.run('COMMIT')
  expect(said(await raise)).toBe('403 not_permitted')
  expect((await house.owner.get(`${house.projectPath}/grants`)).body.data).toHaveLength(1)
})

test('a person who is gone leaves no token that works [token_invalid]', async ({ console, signIn, world }) => {
  const person = await signIn()
  await expect(world.run('DELETE FROM control.people WHERE id = $1', [person.id])).rejects.toThrow(/person_tokens/)
  await world.run('DELETE FROM control.person_tokens WHERE person = $1', [person.id])
  await world.run('DELETE FROM control.people WHERE id = $1', [person.id])
  expect(said(await callerOf(console.url, person.id, person.token).get('/api/v2/me'))).toBe('401 token_invalid')
})
