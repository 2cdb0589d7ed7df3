import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { callerOf, consoleTest as test, said } from '../console.fixture.ts'

test('a key is bound to its project, shows its secret once, and only its hash is stored', async ({
  stack,
  fixture,
}) => {
  const limit = { micro: 5_000_000, reset: 'daily' }
  const made = await stack.owner.post(`${stack.path}/keys`, {
    project: stack.project,
    name: 'CI',
    limit,
    expiresInDays: 30,
  })
  expect(said(made)).toBe('201')
  const { key, secret } = made.body
  expect(secret).toMatch(/^svc_[0-9A-Za-z]{49}$/)
  expect(key).toEqual({
    id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
    name: 'CI',
    project: stack.project,
    prefix: secret.slice(0, 12),
    state: 'Active',
    policy: 'all-eligible',
    resources: [],
    limit,
    createdBy: stack.owner.id,
    createdAt: expect.any(String),
    expiresAt: new Date(Date.parse(key.createdAt) + 30 * 86_400_000).toISOString(),
    lastUsedAt: null,
    rotatedFrom: null,
    rotatedTo: null,
  })
  const read = await stack.owner.get(`${stack.path}/keys/${key.id}`)
  expect(read.body).toEqual(key)
  const { rows } = await fixture.run('SELECT *, encode(hash, $2) AS hex FROM control.keys WHERE id = $1', [
    key.id,
    'hex',
  ])
  expect(rows[0]).toMatchObject({ lineage: key.id, hex: createHash('sha256').update(secret).digest('hex') })
  expect(JSON.stringify(rows)).not.toContain(secret)
  const { body: audit } = await stack.owner.get(`${stack.path}/audit`)
  expect(JSON.stringify(audit)).not.toContain(secret)
})

test('an expiry of 90 days is the default', async ({ stack }) => {
  const { body } = await stack.owner.post(`${stack.path}/keys`, { project: stack.project })
  expect(Date.parse(body.key.expiresAt) - Date.parse(body.key.createdAt)).toBe(90 * 86_400_000)
})

test.for([
  [{}, '422 project_required', 'project'],
  [{ project: null, colour: 'red' }, '422 project_required', 'project'],
  [{ expiresInDays: 0 }, '400 invalid_request', 'expiresInDays'],
  [{ expiresInDays: 366 }, '400 invalid_request', 'expiresInDays'],
  [{ expiresInDays: 1.5 }, '400 invalid_request', 'expiresInDays'],
  [{ limit: { micro: 0, reset: 'daily' } }, '400 invalid_request', 'limit.micro'],
  [{ limit: { micro: 2 ** 53, reset: 'daily' } }, '400 invalid_request', 'limit.micro'],
  [{ limit: { micro: 1, reset: 'hourly' } }, '400 invalid_request', 'limit.reset'],
  [{ limit: { micro: 1 } }, '400 invalid_request', 'limit.reset'],
  [{ policy: 'listed' }, '400 invalid_request', 'resources'],
  [{ policy: 'listed', resources: [] }, '400 invalid_request', 'resources'],
  [{ resources: ['acme/swift'] }, '400 invalid_request', 'resources'],
  [{ policy: 'all-eligible', resources: ['acme/swift'] }, '400 invalid_request', 'resources'],
  [{ createdBy: 'per_other' }, '400 invalid_request', 'createdBy'],
  [{ hash: 'x' }, '400 invalid_request', 'hash'],
] as const)('a key of %j is refused: %s', async ([more, refusal, param], { stack }) => {
  const body = refusal.endsWith('project_required') ? more : { project: stack.project, ...more }
  const answer = await stack.owner.post(`${stack.path}/keys`, body)
  expect([said(answer), answer.body.error.param]).toEqual([refusal, param])
})

test.for([
  [{ expiresInDays: 1 }],
  [{ expiresInDays: 365 }],
  [{ limit: { micro: 1, reset: 'lifetime' } }],
  [{ limit: { micro: Number.MAX_SAFE_INTEGER, reset: 'weekly' } }],
  [{ limit: null, policy: 'all-eligible' }],
] as const)('a key of %j is at its bound and made', async ([more], { stack }) => {
  expect(said(await stack.owner.post(`${stack.path}/keys`, { project: stack.project, ...more }))).toBe('201')
})

test('an allowlist names assigned, published products alone [resource_not_eligible]', async ({ stack, fixture }) => {
  const [assigned, suspended, unassigned] = [
    await fixture.product(),
    await fixture.product({ state: 'suspended' }),
    await fixture.product(),
  ]
  await fixture.assign(stack.project, assigned, suspended)
  const create = (resources: string[]) =>
    stack.owner.post(`${stack.path}/keys`, { project: stack.project, policy: 'listed', resources })
  const refused = await create([assigned, unassigned, suspended, 'sbx-none'])
  expect(said(refused)).toBe('422 resource_not_eligible')
  expect(refused.body.error.details).toEqual({ resources: [unassigned, suspended, 'sbx-none'] })
  const made = await create([assigned, assigned])
  expect(made.body.key).toMatchObject({ policy: 'listed', resources: [assigned] })
})

test.for([
  ['an Admin without team and grant', { tenant: 'Admin' }],
  ['a member alone', {}],
  ['a member of the team without a grant', { team: 'Team Owner' }],
  ['a Project Owner outside the team', { project: 'Project Owner' }],
  ['a Project Viewer in the team', { team: 'Team Member', project: 'Project Viewer' }],
] as const)('%s issues no key [key_issuer_denied]', async ([, roles], { stack }) => {
  const answer = await (await stack.member(roles)).post(`${stack.path}/keys`, { project: stack.project })
  expect(said(answer)).toBe('403 key_issuer_denied')
})

test('who has left the organization issues no key, whatever roles are left behind [key_issuer_denied]', async ({
  stack,
}) => {
  const leaver = await stack.member({ team: 'Team Owner', project: 'Project Owner' })
  await stack.owner.delete(`${stack.path}/members/${leaver.id}`)
  expect(said(await leaver.post(`${stack.path}/keys`, { project: stack.project }))).toBe('403 key_issuer_denied')
})

test('a Team Member with the grant Project Consumer issues keys', async ({ stack }) => {
  const issuer = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  expect(said(await issuer.post(`${stack.path}/keys`, { project: stack.project }))).toBe('201')
})

test('a stranger learns nothing of a project by asking for a key [not_found]', async ({ stack, signIn, fixture }) => {
  const stranger = await signIn()
  const other = await fixture.project(await fixture.tenant())
  const answers = await Promise.all([
    stranger.post(`${stack.path}/keys`, { project: stack.project }),
    stranger.post(`${stack.path}/keys`, {}),
    stack.owner.post(`${stack.path}/keys`, { project: other.id }),
    stack.owner.post(`${stack.path}/keys`, { project: 'prj_never' }),
  ])
  expect(answers.map(said)).toEqual(Array(4).fill('404 not_found'))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
})

test('a creator, the Project Owner and an Admin manage a key; nobody else sees it [not_found]', async ({ stack }) => {
  const creator = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const { body } = await creator.post(`${stack.path}/keys`, { project: stack.project })
  const path = `${stack.path}/keys/${body.key.id}`
  const projectOwner = await stack.member({ project: 'Project Owner' })
  const admin = await stack.member({ tenant: 'Admin' })
  const consumer = await stack.member({ team: 'Team Owner', project: 'Project Consumer' })
  for (const one of [creator, projectOwner, admin]) {
    expect(said(await one.get(path))).toBe('200')
    expect((await one.get(`${stack.path}/keys?project=${stack.project}`)).body.data).toEqual([body.key])
  }
  const never = await consumer.get(`${stack.path}/keys/key_never`)
  for (const answer of [
    await consumer.get(path),
    await consumer.post(`${path}/revoke`),
    await consumer.post(`${path}/rotate`),
  ])
    expect([said(answer), answer.body]).toEqual(['404 not_found', never.body])
  expect((await consumer.get(`${stack.path}/keys`)).body.data).toEqual([])
})

test('a revoked key stays revoked [key_not_active]', async ({ stack }) => {
  const { body } = await stack.owner.post(`${stack.path}/keys`, { project: stack.project })
  const path = `${stack.path}/keys/${body.key.id}`
  const revoked = await stack.owner.post(`${path}/revoke`)
  expect([said(revoked), revoked.body.state]).toEqual(['200', 'Revoked'])
  const again = await stack.owner.post(`${path}/revoke`)
  expect(said(again)).toBe('409 key_not_active')
  expect(again.body.error.details).toEqual({ state: 'Revoked', rotatedTo: null })
  expect(said(await stack.owner.post(`${path}/rotate`))).toBe('409 key_not_active')
})

test('a legacy key needs reissue and is never rotated [key_not_active]', async ({ stack, fixture }) => {
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const path = `${stack.path}/keys/${legacy.id}`
  expect((await stack.owner.get(path)).body).toMatchObject({ state: 'NeedsReissue', project: null })
  expect(said(await stack.owner.post(`${path}/rotate`))).toBe('409 key_not_active')
  expect((await stack.owner.post(`${path}/revoke`)).body.state).toBe('Revoked')
})

test('a replacement keeps everything but the secret, and the lineage says so', async ({ stack, fixture }) => {
  const product = await fixture.product()
  await fixture.assign(stack.project, product)
  const asked = {
    project: stack.project,
    name: 'CI',
    policy: 'listed',
    resources: [product],
    limit: { micro: 5_000_000, reset: 'weekly' },
    expiresInDays: 30,
  }
  const { key: old, secret } = (await stack.owner.post(`${stack.path}/keys`, asked)).body
  const rotated = await stack.owner.post(`${stack.path}/keys/${old.id}/rotate`, { graceSeconds: 60 })
  expect(said(rotated)).toBe('201')
  const { key } = rotated.body
  expect(rotated.body.secret).not.toBe(secret)
  const { id, prefix, createdAt, expiresAt, rotatedFrom, ...kept } = key
  expect(old).toMatchObject(kept)
  expect(rotatedFrom).toBe(old.id)
  expect(prefix).toBe(rotated.body.secret.slice(0, 12))
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 86_400_000)
  const before = await stack.owner.get(`${stack.path}/keys/${old.id}`)
  expect(before.body).toMatchObject({ state: 'Rotated', rotatedTo: id })
  const { rows } = await fixture.run('SELECT DISTINCT lineage FROM control.keys WHERE id = ANY ($1)', [[old.id, id]])
  expect(rows).toEqual([{ lineage: old.id }])
})

test('of many who rotate a key at once one gets the replacement, the others its id [key_not_active]', async ({
  stack,
}) => {
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const path = `${stack.path}/keys/${key.id}/rotate`
  const answers = await Promise.all(Array.from({ length: 8 }, () => stack.owner.post(path)))
  const [won, ...others] = answers.toSorted((a, b) => a.status - b.status)
  expect(said(won!)).toBe('201')
  for (const other of others) {
    expect(said(other)).toBe('409 key_not_active')
    expect(other.body.error.details).toEqual({ state: 'Rotated', rotatedTo: won!.body.key.id })
  }
})

test('a rotated key can be revoked within its grace, and not after', async ({ stack }) => {
  const create = async () => (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body.key.id
  const rotate = (id: string, graceSeconds: number) =>
    stack.owner.post(`${stack.path}/keys/${id}/rotate`, { graceSeconds })
  const [inGrace, without] = [await create(), await create()]
  await rotate(inGrace, 86_400)
  await rotate(without, 0)
  expect((await stack.owner.post(`${stack.path}/keys/${inGrace}/revoke`)).body.state).toBe('Revoked')
  expect(said(await stack.owner.post(`${stack.path}/keys/${without}/revoke`))).toBe('409 key_not_active')
  const tooLong = await rotate(await create(), 86_401)
  expect([said(tooLong), tooLong.body.error.param]).toEqual(['400 invalid_request', 'graceSeconds'])
})

test('a key rotates itself and nothing else [not_found]', async ({ stack, console, fixture }) => {
  const create = async () => (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const [mine, other] = [await create(), await create()]
  const byKey = callerOf(console.url, '', mine.secret)
  expect(said(await byKey.post(`${stack.path}/keys/${other.key.id}/rotate`))).toBe('404 not_found')
  expect(said(await byKey.get(`${stack.path}/keys/${mine.key.id}`))).toBe('401 token_invalid')
  const rotated = await byKey.post(`${stack.path}/keys/${mine.key.id}/rotate`)
  expect(said(rotated)).toBe('201')
  expect(rotated.body.key.createdBy).toBe(stack.owner.id)
  const { body } = await stack.owner.get(`${stack.path}/audit?limit=1`)
  expect(body.data).toMatchObject([{ action: 'key.rotate', person: null, subject: mine.key.id }])

  const again = await byKey.post(`${stack.path}/keys/${mine.key.id}/rotate`)
  expect(said(again)).toBe('401 key_revoked')
  expect(again.body.error.resolution).toContain(rotated.body.key.id)
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const byLegacy = callerOf(console.url, '', legacy.secret)
  expect(said(await byLegacy.post(`${stack.path}/keys/${legacy.id}/rotate`))).toBe('403 key_unbound')
  const byGarbage = callerOf(console.url, '', 'svc_garbage')
  expect(said(await byGarbage.post(`${stack.path}/keys/${legacy.id}/rotate`))).toBe('401 key_invalid')
})

test("no replacement is issued once the creator's rights are gone [key_issuer_denied]", async ({ stack }) => {
  const creator = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const { key } = (await creator.post(`${stack.path}/keys`, { project: stack.project })).body
  await stack.owner.delete(`${stack.projectPath}/grants/${creator.id}`)
  expect(said(await stack.owner.post(`${stack.path}/keys/${key.id}/rotate`))).toBe('403 key_issuer_denied')
})

test("a key's expiry, project and limit can't be changed behind the API", async ({ stack, fixture }) => {
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  await expect(fixture.run(`UPDATE control.keys SET expires_at = NULL WHERE id = $1`, [key.id])).rejects.toThrow(
    /for life/,
  )
})
