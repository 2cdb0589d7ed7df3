import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { callerOf, consoleTest as test, said } from '../console.fixture.ts'

test('a key is bound to its project, shows its secret once, and only its hash is stored', async ({ house, world }) => {
  const limit = { micro: 5_000_000, reset: 'daily' }
  const made = await house.owner.post(`${house.path}/keys`, {
    project: house.project,
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
    project: house.project,
    prefix: secret.slice(0, 12),
    state: 'Active',
    policy: 'all-eligible',
    resources: [],
    limit,
    createdBy: house.owner.id,
    createdAt: expect.any(String),
    expiresAt: new Date(Date.parse(key.createdAt) + 30 * 86_400_000).toISOString(),
    lastUsedAt: null,
    rotatedFrom: null,
    rotatedTo: null,
  })
  const read = await house.owner.get(`${house.path}/keys/${key.id}`)
  expect(read.body).toEqual(key)
  const { rows } = await world.run('SELECT *, encode(hash, $2) AS hex FROM control.keys WHERE id = $1', [key.id, 'hex'])
  expect(rows[0]).toMatchObject({ lineage: key.id, hex: createHash('sha256').update(secret).digest('hex') })
  expect(JSON.stringify(rows)).not.toContain(secret)
  const { body: audit } = await house.owner.get(`${house.path}/audit`)
  expect(JSON.stringify(audit)).not.toContain(secret)
})

test('an expiry of 90 days is the default', async ({ house }) => {
  const { body } = await house.owner.post(`${house.path}/keys`, { project: house.project })
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
] as const)('a key of %j is refused: %s', async ([more, refusal, param], { house }) => {
  const body = refusal.endsWith('project_required') ? more : { project: house.project, ...more }
  const answer = await house.owner.post(`${house.path}/keys`, body)
  expect([said(answer), answer.body.error.param]).toEqual([refusal, param])
})

test.for([
  [{ expiresInDays: 1 }],
  [{ expiresInDays: 365 }],
  [{ limit: { micro: 1, reset: 'lifetime' } }],
  [{ limit: { micro: Number.MAX_SAFE_INTEGER, reset: 'weekly' } }],
  [{ limit: null, policy: 'all-eligible' }],
] as const)('a key of %j is at its bound and made', async ([more], { house }) => {
  expect(said(await house.owner.post(`${house.path}/keys`, { project: house.project, ...more }))).toBe('201')
})

test('an allowlist names assigned, published products alone [resource_not_eligible]', async ({ house, world }) => {
  const [assigned, suspended, unassigned] = [
    await world.product(),
    await world.product({ state: 'suspended' }),
    await world.product(),
  ]
  await world.assign(house.project, assigned, suspended)
  const create = (resources: string[]) =>
    house.owner.post(`${house.path}/keys`, { project: house.project, policy: 'listed', resources })
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
] as const)('%s issues no key [key_issuer_denied]', async ([, roles], { house }) => {
  const answer = await (await house.member(roles)).post(`${house.path}/keys`, { project: house.project })
  expect(said(answer)).toBe('403 key_issuer_denied')
})

test('who has left the organization issues no key, whatever roles are left behind [key_issuer_denied]', async ({
  house,
}) => {
  const leaver = await house.member({ team: 'Team Owner', project: 'Project Owner' })
  await house.owner.delete(`${house.path}/members/${leaver.id}`)
  expect(said(await leaver.post(`${house.path}/keys`, { project: house.project }))).toBe('403 key_issuer_denied')
})

test('a Team Member with the grant Project Consumer issues keys', async ({ house }) => {
  const issuer = await house.member({ team: 'Team Member', project: 'Project Consumer' })
  expect(said(await issuer.post(`${house.path}/keys`, { project: house.project }))).toBe('201')
})

test('a stranger learns nothing of a project by asking for a key [not_found]', async ({ house, signIn, world }) => {
  const stranger = await signIn()
  const other = await world.project(await world.tenant())
  const answers = await Promise.all([
    stranger.post(`${house.path}/keys`, { project: house.project }),
    stranger.post(`${house.path}/keys`, {}),
    house.owner.post(`${house.path}/keys`, { project: other.id }),
    house.owner.post(`${house.path}/keys`, { project: 'prj_never' }),
  ])
  expect(answers.map(said)).toEqual(Array(4).fill('404 not_found'))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
})

test('a creator, the Project Owner and an Admin manage a key; nobody else sees it [not_found]', async ({ house }) => {
  const creator = await house.member({ team: 'Team Member', project: 'Project Consumer' })
  const { body } = await creator.post(`${house.path}/keys`, { project: house.project })
  const path = `${house.path}/keys/${body.key.id}`
  const projectOwner = await house.member({ project: 'Project Owner' })
  const admin = await house.member({ tenant: 'Admin' })
  const consumer = await house.member({ team: 'Team Owner', project: 'Project Consumer' })
  for (const one of [creator, projectOwner, admin]) {
    expect(said(await one.get(path))).toBe('200')
    expect((await one.get(`${house.path}/keys?project=${house.project}`)).body.data).toEqual([body.key])
  }
  const never = await consumer.get(`${house.path}/keys/key_never`)
  for (const answer of [
    await consumer.get(path),
    await consumer.post(`${path}/revoke`),
    await consumer.post(`${path}/rotate`),
  ])
    expect([said(answer), answer.body]).toEqual(['404 not_found', never.body])
  expect((await consumer.get(`${house.path}/keys`)).body.data).toEqual([])
})

test('a revoked key stays revoked [key_not_active]', async ({ house }) => {
  const { body } = await house.owner.post(`${house.path}/keys`, { project: house.project })
  const path = `${house.path}/keys/${body.key.id}`
  const revoked = await house.owner.post(`${path}/revoke`)
  expect([said(revoked), revoked.body.state]).toEqual(['200', 'Revoked'])
  const again = await house.owner.post(`${path}/revoke`)
  expect(said(again)).toBe('409 key_not_active')
  expect(again.body.error.details).toEqual({ state: 'Revoked', rotatedTo: null })
  expect(said(await house.owner.post(`${path}/rotate`))).toBe('409 key_not_active')
})

test('a legacy key needs reissue and is never rotated [key_not_active]', async ({ house, world }) => {
  const legacy = await world.key({ project: null, tenant: house.tenant, by: house.owner.id })
  const path = `${house.path}/keys/${legacy.id}`
  expect((await house.owner.get(path)).body).toMatchObject({ state: 'NeedsReissue', project: null })
  expect(said(await house.owner.post(`${path}/rotate`))).toBe('409 key_not_active')
  expect((await house.owner.post(`${path}/revoke`)).body.state).toBe('Revoked')
})

test('a replacement keeps everything but the secret, and the lineage says so', async ({ house, world }) => {
  const product = await world.product()
  await world.assign(house.project, product)
  const asked = {
    project: house.project,
    name: 'CI',
    policy: 'listed',
    resources: [product],
    limit: { micro: 5_000_000, reset: 'weekly' },
    expiresInDays: 30,
  }
  const { key: old, secret } = (await house.owner.post(`${house.path}/keys`, asked)).body
  const rotated = await house.owner.post(`${house.path}/keys/${old.id}/rotate`, { graceSeconds: 60 })
  expect(said(rotated)).toBe('201')
  const { key } = rotated.body
  expect(rotated.body.secret).not.toBe(secret)
  const { id, prefix, createdAt, expiresAt, rotatedFrom, ...kept } = key
  expect(old).toMatchObject(kept)
  expect(rotatedFrom).toBe(old.id)
  expect(prefix).toBe(rotated.body.secret.slice(0, 12))
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 86_400_000)
  const before = await house.owner.get(`${house.path}/keys/${old.id}`)
  expect(before.body).toMatchObject({ state: 'Rotated', rotatedTo: id })
  const { rows } = await world.run('SELECT DISTINCT lineage FROM control.keys WHERE id = ANY ($1)', [[old.id, id]])
  expect(rows).toEqual([{ lineage: old.id }])
})

test('of many who rotate a key at once one gets the replacement, the others its id [key_not_active]', async ({
  house,
}) => {
  const { key } = (await house.owner.post(`${house.path}/keys`, { project: house.project })).body
  const path = `${house.path}/keys/${key.id}/rotate`
  const answers = await Promise.all(Array.from({ length: 8 }, () => house.owner.post(path)))
  const [won, ...others] = answers.toSorted((a, b) => a.status - b.status)
  expect(said(won!)).toBe('201')
  for (const other of others) {
    expect(said(other)).toBe('409 key_not_active')
    expect(other.body.error.details).toEqual({ state: 'Rotated', rotatedTo: won!.body.key.id })
  }
})

test('a rotated key can be revoked within its grace, and not after', async ({ house }) => {
  const create = async () => (await house.owner.post(`${house.path}/keys`, { project: house.project })).body.key.id
  const rotate = (id: string, graceSeconds: number) =>
    house.owner.post(`${house.path}/keys/${id}/rotate`, { graceSeconds })
  const [inGrace, without] = [await create(), await create()]
  await rotate(inGrace, 86_400)
  await rotate(without, 0)
  expect((await house.owner.post(`${house.path}/keys/${inGrace}/revoke`)).body.state).toBe('Revoked')
  expect(said(await house.owner.post(`${house.path}/keys/${without}/revoke`))).toBe('409 key_not_active')
  const tooLong = await rotate(await create(), 86_401)
  expect([said(tooLong), tooLong.body.error.param]).toEqual(['400 invalid_request', 'graceSeconds'])
})

test('a key rotates itself and nothing else [not_found]', async ({ house, console, world }) => {
  const create = async () => (await house.owner.post(`${house.path}/keys`, { project: house.project })).body
  const [mine, other] = [await create(), await create()]
  const byKey = callerOf(console.url, '', mine.secret)
  expect(said(await byKey.post(`${house.path}/keys/${other.key.id}/rotate`))).toBe('404 not_found')
  expect(said(await byKey.get(`${house.path}/keys/${mine.key.id}`))).toBe('401 token_invalid')
  const rotated = await byKey.post(`${house.path}/keys/${mine.key.id}/rotate`)
  expect(said(rotated)).toBe('201')
  expect(rotated.body.key.createdBy).toBe(house.owner.id)
  const { body } = await house.owner.get(`${house.path}/audit?limit=1`)
  expect(body.data).toMatchObject([{ action: 'key.rotate', person: null, subject: mine.key.id }])

  const again = await byKey.post(`${house.path}/keys/${mine.key.id}/rotate`)
  expect(said(again)).toBe('401 key_revoked')
  expect(again.body.error.resolution).toContain(rotated.body.key.id)
  const legacy = await world.key({ project: null, tenant: house.tenant, by: house.owner.id })
  const byLegacy = callerOf(console.url, '', legacy.secret)
  expect(said(await byLegacy.post(`${house.path}/keys/${legacy.id}/rotate`))).toBe('403 key_unbound')
  const byGarbage = callerOf(console.url, '', 'svc_garbage')
  expect(said(await byGarbage.post(`${house.path}/keys/${legacy.id}/rotate`))).toBe('401 key_invalid')
})

test("no replacement is issued once the creator's rights are gone [key_issuer_denied]", async ({ house }) => {
  const creator = await house.member({ team: 'Team Member', project: 'Project Consumer' })
  const { key } = (await creator.post(`${house.path}/keys`, { project: house.project })).body
  await house.owner.delete(`${house.projectPath}/grants/${creator.id}`)
  expect(said(await house.owner.post(`${house.path}/keys/${key.id}/rotate`))).toBe('403 key_issuer_denied')
})

test("a key's expiry, project and limit can't be changed behind the API", async ({ house, world }) => {
  const { key } = (await house.owner.post(`${house.path}/keys`, { project: house.project })).body
  await expect(world.run(`UPDATE control.keys SET expires_at = NULL WHERE id = $1`, [key.id])).rejects.toThrow(
    /for life/,
  )
})
