import { expect } from 'vitest'
import { ask } from '@gateway/testbed/ask'
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

test('an id of another organization in a path is nothing, byte for byte [not_found]', async ({
  house,
  world,
  signIn,
}) => {
  const other = await world.tenant()
  const project = await world.project(other)
  const otherKey = await world.key({ project, by: other.owner })
  const theirs = await signIn({ id: other.owner })
  const ids = { tenant: other.tenant, team: other.team, project: project.id, key: otherKey.id, person: other.owner }
  const never = {
    tenant: 'ten_00000000000000000000000000',
    team: 'tea_00000000000000000000000000',
    project: 'prj_00000000000000000000000000',
    key: 'key_00000000000000000000000000',
    person: 'per_00000000000000000000000000',
  }
  const mine = { ...ids, tenant: house.tenant, team: house.team, project: house.project }
  type Ids = typeof ids
  const places = (of: Ids): [keyof Caller & ('get' | 'post' | 'put' | 'delete'), string, object?][] => {
    const t = `/api/v2/tenants/${of.tenant}`
    const p = `${t}/projects/${of.project}`
    return [
      ['get', `${t}/members`],
      ['post', `${t}/members`, { email: 'a@example.test' }],
      ['delete', `${t}/members/${of.person}`],
      ['get', `${t}/teams/${of.team}/members`],
      ['post', `${t}/teams/${of.team}/members`, { person: house.owner.id }],
      ['delete', `${t}/teams/${of.team}/members/${of.person}`],
      ['delete', `${t}/teams/${of.team}`],
      ['get', `${t}/audit`],
      ['get', `${t}/projects`],
      ['delete', p],
      ['get', `${p}/grants`],
      ['post', `${p}/grants`, { person: house.owner.id, role: 'Project Owner' }],
      ['delete', `${p}/grants/${of.person}`],
      ['get', `${p}/assignments`],
      ['put', `${p}/assignments/acme%2Fswift`],
      ['delete', `${p}/assignments/acme%2Fswift`],
      ['get', `${p}/wallet`],
      ['get', `${p}/usage`],
      ['get', `${p}/invocations`],
      ['get', `${p}/invocations/inv_x`],
      ['get', `${t}/keys`],
      ['post', `${t}/keys`, { project: of.project }],
      ['get', `${t}/keys/${of.key}`],
      ['post', `${t}/keys/${of.key}/rotate`],
      ['post', `${t}/keys/${of.key}/revoke`],
    ]
  }
  const askAll = (of: Ids) =>
    Promise.all(places(of).map(([method, path, body]) => house.owner[method](path, body))).then((answers) =>
      answers.map((answer, n) => [places(mine)[n]![1], said(answer), JSON.stringify(answer.body)]),
    )
  const nothing = await askAll(never)
  expect(new Set(nothing.map(([, refusal]) => refusal))).toEqual(new Set(['404 not_found']))
  expect(await askAll(ids)).toEqual(nothing)

  // Under one's own organization: its ids are there, the others' in their place are not.
  const swaps: Partial<Ids>[] = [{ team: other.team }, { project: project.id }, { key: otherKey.id }]
  for (const swap of swaps) {
    const [field] = Object.keys(swap) as [keyof Ids]
    const touched = places({ ...mine, ...swap }).filter(([, path]) => path.includes(ids[field]))
    const answers = await Promise.all(touched.map(([method, path, body]) => house.owner[method](path, body)))
    expect(answers.map(said)).toEqual(touched.map(() => '404 not_found'))
  }
  // And nothing was done to them.
  expect((await theirs.get(`/api/v2/tenants/${other.tenant}/members`)).body.data).toHaveLength(1)
  expect((await theirs.get(`/api/v2/tenants/${other.tenant}/keys/${otherKey.id}`)).body.state).toBe('Active')
})

test('an id of another organization in a body or a query is nothing either', async ({ house, world }) => {
  const other = await world.tenant()
  const project = await world.project(other)
  const product = await world.product()
  await world.assign(project.id, product)
  const { owner } = house
  const person = other.owner
  const listed = { project: house.project, policy: 'listed', resources: [product] }
  const answers = [
    await owner.post(`${house.path}/teams/${house.team}/members`, { person }),
    await owner.post(`${house.projectPath}/grants`, { person, role: 'Project Viewer' }),
    await owner.post(`${house.path}/projects`, { name: 'Theirs', team: other.team }),
    await owner.post(`${house.path}/keys`, { project: project.id }),
    await owner.post(`${house.path}/keys`, listed),
  ]
  expect(answers.map(said)).toEqual([
    '400 invalid_request',
    '400 invalid_request',
    '400 invalid_request',
    '404 not_found',
    '422 resource_not_eligible',
  ])
  await world.key({ project, by: other.owner })
  expect((await owner.get(`${house.path}/keys?project=${project.id}`)).body.data).toEqual([])
})

test('an organization that added somebody first gets nothing of what another gives them [invalid_request]', async ({
  house,
  world,
  signIn,
}) => {
  // Whoever administers one organization makes an account with a stranger's e-mail and a password of their own choice …
  const attacker = await world.tenant()
  const attackerAdmin = await signIn({ id: attacker.owner })
  const email = `victim.${house.tenant}@example.test`
  const password = 'known to the attacker'
  const made = await attackerAdmin.post(`/api/v2/tenants/${attacker.tenant}/members`, { email, password })
  expect(said(made)).toBe('201')
  // … and waits for another organization to add that e-mail.
  const added = await house.owner.post(`${house.path}/members`, { email, role: 'Admin' })
  expect([said(added), added.body.error.param]).toEqual(['400 invalid_request', 'email'])
  // Leaving the first organization changes nothing.
  await attackerAdmin.delete(`/api/v2/tenants/${attacker.tenant}/members/${made.body.id}`)
  expect(said(await house.owner.post(`${house.path}/members`, { email }))).toBe('400 invalid_request')
  // The id, which only the person who is meant can tell, names them beyond doubt.
  expect(said(await house.owner.post(`${house.path}/members`, { person: made.body.id }))).toBe('201')
  expect(said(await house.owner.post(`${house.path}/members`, { email, role: 'Admin' }))).toBe('200')
  const none = await house.owner.post(`${house.path}/members`, { person: 'per_nobody' })
  expect([said(none), none.body.error.param]).toEqual(['400 invalid_request', 'person'])
  const both = await house.owner.post(`${house.path}/members`, { person: made.body.id, email })
  expect([said(both), both.body.error.param]).toEqual(['400 invalid_request', 'email'])
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

test('every change leaves one row in the audit, and a refusal none', async ({ house, world, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const [member, product] = [await house.member(), await world.product()]
  const stranger = await signIn()
  const count = async () => Number((await world.run('SELECT count(*) FROM control.audit')).rows[0].count)
  const one = async (status: string, action: string, change: () => ReturnType<Caller['get']>) => {
    const before = await count()
    const answer = await change()
    expect([action, said(answer)]).toEqual([action, status])
    const { rows } = await world.run('SELECT action, person FROM control.audit ORDER BY id DESC LIMIT 1')
    if (answer.status < 300) expect([rows[0].action, await count()]).toEqual([action, before + 1])
    else expect(await count()).toBe(before)
    return answer.body
  }
  const { owner, path, projectPath } = house
  const productPath = `${projectPath}/assignments/${encodeURIComponent(product)}`
  await one('403 not_permitted', 'member.set', () => member.post(`${path}/members`, { email: 'n@example.test' }))
  await one('404 not_found', 'grant.set', () => stranger.post(`${projectPath}/grants`, {}))
  await one('201', 'tenant.create', () => operator.post('/api/v2/tenants', { name: 'T' })).then(({ id }) =>
    one('204', 'tenant.delete', () => operator.delete(`/api/v2/tenants/${id}`)),
  )
  await one('200', 'member.set', () => owner.post(`${path}/members`, { person: member.id, role: 'Admin' }))
  await one('201', 'team.create', () => owner.post(`${path}/teams`, { name: 'T' })).then(async ({ id }) => {
    await one('201', 'team-member.set', () => owner.post(`${path}/teams/${id}/members`, { person: member.id }))
    await one('204', 'team-member.remove', () => owner.delete(`${path}/teams/${id}/members/${member.id}`))
    await one('204', 'team.delete', () => owner.delete(`${path}/teams/${id}`))
  })
  await one('201', 'grant.set', () =>
    owner.post(`${projectPath}/grants`, { person: member.id, role: 'Project Viewer' }),
  )
  await one('204', 'grant.remove', () => owner.delete(`${projectPath}/grants/${member.id}`))
  await one('201', 'product.assign', () => owner.put(productPath))
  await one('204', 'product.unassign', () => owner.delete(productPath))
  await one('201', 'key.create', () => owner.post(`${path}/keys`, { project: house.project })).then(async ({ key }) => {
    const { key: next } = await one('201', 'key.rotate', () => owner.post(`${path}/keys/${key.id}/rotate`))
    await one('409 key_not_active', 'key.rotate', () => owner.post(`${path}/keys/${key.id}/rotate`))
    await one('200', 'key.revoke', () => owner.post(`${path}/keys/${next.id}/revoke`))
  })
  await one('201', 'wallet.fund', () => operator.post(`${projectPath}/wallet/fundings`, { fundingId: 'f', micro: 1 }))
  await one('201', 'project.create', () => owner.post(`${path}/projects`, { name: 'P' })).then(({ id }) =>
    one('204', 'project.delete', () => owner.delete(`${path}/projects/${id}`)),
  )
  await one('204', 'member.remove', () => owner.delete(`${path}/members/${member.id}`))
  await one('201', 'token.create', () => owner.post('/api/v2/me/tokens', { name: 't' })).then(({ token }) =>
    one('204', 'token.delete', () => owner.delete(`/api/v2/me/tokens/${token.id}`)),
  )
  await one('204', 'password.set', () => owner.put('/api/v2/me/password', { password: 'long enough for it' }))
  const change = { state: 'suspended' }
  await one('200', 'product.change', () => operator.patch(`/api/v2/products/${encodeURIComponent(product)}`, change))
  const { rows } = await world.run(
    `SELECT details FROM control.audit WHERE action = 'product.change' AND subject = $1`,
    [product],
  )
  expect(rows[0].details).toMatchObject({ before: { state: 'published' }, after: change })
})

test('what is written down can not be changed, nor an identity moved, by whoever has taken over the console', async ({
  database,
}) => {
  for (const statement of [
    `UPDATE control.audit SET person = NULL`,
    `DELETE FROM control.audit`,
    `TRUNCATE control.audit`,
    `UPDATE control.person_identities SET person = 'per_x'`,
    `UPDATE money.wallets SET funded = 1`,
    `SELECT money.fund_v1('prj', 'f', 1, 'me')`,
  ])
    await expect(ask(database.consoleUrl, statement)).rejects.toThrow(/permission denied/)
})

test('what refers to something that is deleted meanwhile finds nothing [not_found]', async ({ house, world }) => {
  const product = await world.product()
  const asks = [
    () => house.owner.post(`${house.path}/keys`, { project: house.project }),
    () => house.owner.put(`${house.projectPath}/assignments/${encodeURIComponent(product)}`),
  ]
  await world.run('BEGIN')
  await world.run('SELECT FROM control.projects WHERE id = $1 FOR UPDATE', [house.project])
  const answers = asks.map((one) => one())
  await untilSomebodyWaits(world, asks.length)
  await world.run('DELETE FROM control.project_grants WHERE project = $1', [house.project])
  await world.run('DELETE FROM control.projects WHERE id = $1', [house.project])
  await world.run('COMMIT')
  expect((await Promise.all(answers)).map(said)).toEqual(['404 not_found', '404 not_found'])
})

test('no query or id makes the console fail', async ({ house }) => {
  const odd = [
    '',
    '0',
    '-1',
    '1.5',
    'NaN',
    '1e9',
    '9'.repeat(15),
    `${'9'.repeat(15)}.inv_x`,
    "' OR 1=1 --",
    '%F0%9F%98%80',
    '%00',
    '%ED%A0%80',
  ]
  const lists = ['members', 'teams', 'projects', 'keys', 'audit'].map((name) => `${house.path}/${name}`)
  lists.push(`${house.projectPath}/grants`, `${house.projectPath}/invocations`, '/api/v2/products', '/api/v2/tenants')
  const queries = lists.flatMap((path) => odd.flatMap((value) => [`${path}?cursor=${value}`, `${path}?limit=${value}`]))
  const moments = [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '-271821-04-20T00:00:00Z',
  ]
  for (const moment of moments)
    queries.push(`${house.projectPath}/usage?from=${moment}`, `${house.projectPath}/usage?to=${moment}`)
  const bad: string[] = []
  for (const query of queries) {
    const answer = await house.owner.get(query)
    if (answer.status >= 500) bad.push(`${answer.status} ${query}`)
  }
  expect(bad).toEqual([])
})
