import { expect } from 'vitest'
import { callerOf, consoleTest as test, outcomeOf } from '../console.fixture.ts'

// spec: 2.1/r9, 3.2/s3, 4.6/s2
test('a legacy key is in state NeedsReissue: it can be revoked but not rotated [key_not_active]', async ({
  stack,
  fixture,
}) => {
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const path = `${stack.path}/keys/${legacy.id}`
  expect((await stack.owner.get(path)).body).toMatchObject({ state: 'NeedsReissue', project: null })
  expect(outcomeOf(await stack.owner.post(`${path}/rotate`))).toBe('409 key_not_active')
  expect((await stack.owner.post(`${path}/revoke`)).body.state).toBe('Revoked')
})

// spec: 3.2/s3
test('issuing, rotating and revoking other keys leaves a legacy key unchanged and unbound', async ({
  stack,
  fixture,
}) => {
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const shown = async () => (await stack.owner.get(`${stack.path}/keys/${legacy.id}`)).body
  const before = await shown()
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const next = await stack.owner.post(`${stack.path}/keys/${key.id}/rotate`)
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys/${next.body.key.id}/revoke`))).toBe('200')
  expect(await shown()).toEqual(before)
})

// spec: 2.1/r8, 4.6/s1, 9/s5
test('rotating a key keeps its settings and lineage and changes only the secret', async ({ stack, fixture }) => {
  const product = await fixture.product()
  await fixture.assign(stack.project, product)
  const asked = {
    project: stack.project,
    name: 'CI',
    policy: 'listed',
    resources: [product],
    limit: { micro: 5_000_000, reset: 'weekly' },
    rates: { requestsPerMinute: 60, tokensPerMinute: 5_000, concurrentCalls: 2 },
    expiresInDays: 30,
  }
  const { key: old, secret } = (await stack.owner.post(`${stack.path}/keys`, asked)).body
  const rotated = await stack.owner.post(`${stack.path}/keys/${old.id}/rotate`, { graceSeconds: 60 })
  expect(outcomeOf(rotated)).toBe('201')
  const { key } = rotated.body
  expect(rotated.body.secret).not.toBe(secret)
  const { id, prefix, createdAt, expiresAt, rotatedFrom, ...kept } = key
  expect(old).toMatchObject(kept)
  expect(rotatedFrom).toBe(old.id)
  expect(prefix).toBe(rotated.body.secret.slice(0, 12))
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 86_400_000)
  const before = await stack.owner.get(`${stack.path}/keys/${old.id}`)
  const graceUntil = new Date(Date.parse(createdAt) + 60_000).toISOString()
  expect(before.body).toMatchObject({ state: 'Rotated', rotatedTo: id, graceUntil })
  const { rows } = await fixture.run('SELECT DISTINCT lineage FROM control.keys WHERE id = ANY ($1)', [[old.id, id]])
  expect(rows).toEqual([{ lineage: old.id }])
})

test('the grace period of a key ends at the latest with the key', async ({ stack, fixture }) => {
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const path = `${stack.path}/keys/${key.id}`
  await fixture.run('ALTER TABLE control.keys DISABLE TRIGGER keep_key_binding')
  await fixture.run(`UPDATE control.keys SET expires_at = now() + interval '12 hours' WHERE id = $1`, [key.id])
  await fixture.run('ALTER TABLE control.keys ENABLE TRIGGER keep_key_binding')
  expect(outcomeOf(await stack.owner.post(`${path}/rotate`, { graceSeconds: 86_400 }))).toBe('201')
  const { graceUntil, expiresAt } = (await stack.owner.get(path)).body
  expect(graceUntil).toBe(expiresAt)
})

// spec: 4.5/r3, 4.6/s2
test('a key can rotate itself, but no other key and nothing else [not_found]', async ({ stack, console, fixture }) => {
  const create = async () => (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const [mine, other] = [await create(), await create()]
  const byKey = callerOf(console.url, '', mine.secret)
  expect(outcomeOf(await byKey.post(`${stack.path}/keys/${other.key.id}/rotate`))).toBe('404 not_found')
  expect(outcomeOf(await byKey.get(`${stack.path}/keys/${mine.key.id}`))).toBe('401 token_invalid')
  const rotated = await byKey.post(`${stack.path}/keys/${mine.key.id}/rotate`)
  expect(outcomeOf(rotated)).toBe('201')
  expect(rotated.body.key.createdBy).toBe(stack.owner.id)
  const { body } = await stack.owner.get(`${stack.path}/audit?limit=1`)
  expect(body.data).toMatchObject([{ action: 'key.rotate', user: null, subject: mine.key.id }])

  const again = await byKey.post(`${stack.path}/keys/${mine.key.id}/rotate`)
  expect(outcomeOf(again)).toBe('401 key_revoked')
  expect(again.body.error.resolution).toContain(rotated.body.key.id)
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const byLegacy = callerOf(console.url, '', legacy.secret)
  expect(outcomeOf(await byLegacy.post(`${stack.path}/keys/${legacy.id}/rotate`))).toBe('403 key_unbound')
  const byGarbage = callerOf(console.url, '', 'svc_garbage')
  expect(outcomeOf(await byGarbage.post(`${stack.path}/keys/${legacy.id}/rotate`))).toBe('401 key_invalid')
})

test('the refusal of a rotated, then revoked key names its replacement, as at the gateway [key_revoked]', async ({
  stack,
  console,
}) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const path = `${stack.path}/keys/${key.id}`
  const next = (await stack.owner.post(`${path}/rotate`, { graceSeconds: 60 })).body
  expect(outcomeOf(await stack.owner.post(`${path}/revoke`))).toBe('200')
  const refused = await callerOf(console.url, '', secret).post(`${path}/rotate`)
  expect(outcomeOf(refused)).toBe('401 key_revoked')
  expect(refused.body.error.resolution).toContain(next.key.id)
})

test('refuses to rotate a key whose creator may no longer issue keys [key_issuer_denied]', async ({ stack }) => {
  const creator = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const { key } = (await creator.post(`${stack.path}/keys`, { project: stack.project })).body
  await stack.owner.delete(`${stack.projectPath}/grants/${creator.id}`)
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys/${key.id}/rotate`))).toBe('403 key_issuer_denied')
})
