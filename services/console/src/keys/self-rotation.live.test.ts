import { expect } from 'vitest'
import { callerOf, consoleTest as test, outcomeOf } from '../console.fixture.ts'

const DAY_MS = 86_400_000

test('a project can forbid keys to rotate themselves, and users still rotate them [rotation_forbidden]', async ({
  stack,
  console,
}) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const path = `${stack.path}/keys/${key.id}/rotate`
  const forbidden = await stack.owner.patch(stack.projectPath, { keySelfRotation: false })
  expect(forbidden.body).toMatchObject({ keySelfRotation: false })
  expect(outcomeOf(await callerOf(console.url, '', secret).post(path))).toBe('403 rotation_forbidden')
  expect((await stack.owner.get(`${stack.path}/keys/${key.id}`)).body.state).toBe('Active')
  const [row] = (await stack.owner.get(`${stack.path}/audit?limit=1`)).body.data
  expect(row).toMatchObject({
    action: 'project.change',
    details: { keySelfRotation: false, before: { keySelfRotation: true } },
  })
  const next = (await stack.owner.post(path)).body
  await stack.owner.patch(stack.projectPath, { keySelfRotation: true })
  const again = await callerOf(console.url, '', next.secret).post(`${stack.path}/keys/${next.key.id}/rotate`)
  expect(outcomeOf(again)).toBe('201')
})

test('refuses a forbidden rotation without asking the ledger [rotation_forbidden]', async ({
  stack,
  console,
  ledger,
}) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  await stack.owner.patch(stack.projectPath, { keySelfRotation: false })
  await ledger.stop()
  try {
    const refused = await callerOf(console.url, '', secret).post(`${stack.path}/keys/${key.id}/rotate`)
    expect(outcomeOf(refused)).toBe('403 rotation_forbidden')
  } finally {
    await ledger.start()
  }
})

test('keys show who rotated them and when, and who got their secret: a user, or the key itself', async ({
  stack,
  console,
}) => {
  const { key: first, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  expect(first).toMatchObject({ issuedBy: stack.owner.id, rotatedBy: null, rotatedAt: null })
  const byKey = await callerOf(console.url, '', secret).post(`${stack.path}/keys/${first.id}/rotate`)
  const second = byKey.body.key
  const third = (await stack.owner.post(`${stack.path}/keys/${second.id}/rotate`)).body.key
  const listed = (await stack.owner.get(`${stack.path}/keys?project=${stack.project}`)).body.data
  expect(listed).toMatchObject([
    { id: third.id, issuedBy: stack.owner.id, rotatedBy: null, rotatedAt: null },
    { id: second.id, issuedBy: first.id, rotatedBy: stack.owner.id, rotatedAt: third.createdAt },
    { id: first.id, issuedBy: stack.owner.id, rotatedBy: first.id, rotatedAt: second.createdAt },
  ])
  expect((await stack.owner.get(`${stack.path}/keys/${second.id}`)).body).toEqual(listed[1])
})

test('a key that rotates itself ends at the latest 365 days after a user last issued a secret of its chain', async ({
  stack,
  console,
  fixture,
}) => {
  const asked = { project: stack.project, expiresInDays: 90 }
  const { key: first, secret } = (await stack.owner.post(`${stack.path}/keys`, asked)).body
  const rotate = async (id: string, by: string) =>
    (await callerOf(console.url, '', by).post(`${stack.path}/keys/${id}/rotate`)).body
  const second = await rotate(first.id, secret)
  const span = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string }) =>
    Date.parse(expiresAt) - Date.parse(createdAt)
  expect(span(second.key)).toBe(90 * DAY_MS)
  // A year ago but for a day: the trigger that protects a key's binding would refuse it.
  await fixture.run('ALTER TABLE control.keys DISABLE TRIGGER keep_key_binding')
  await fixture.run(`UPDATE control.keys SET issued_at = now() - interval '364 days' WHERE id = $1`, [second.key.id])
  await fixture.run('ALTER TABLE control.keys ENABLE TRIGGER keep_key_binding')
  const third = await rotate(second.key.id, second.secret)
  expect(Math.round(span(third.key) / DAY_MS)).toBe(1)
  const fourth = await rotate(third.key.id, third.secret)
  expect(fourth.key.expiresAt).toBe(third.key.expiresAt)
  const byUser = (await stack.owner.post(`${stack.path}/keys/${fourth.key.id}/rotate`)).body
  expect(span(byUser.key)).toBe(90 * DAY_MS)
})

test('each rotation is an open alert of the project that names who rotated, and goes to its webhooks', async ({
  stack,
  console,
}) => {
  const { webhook } = (await stack.owner.post(`${stack.projectPath}/webhooks`, { url: 'http://127.0.0.1:9/' })).body
  const { key: first, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const second = (await callerOf(console.url, '', secret).post(`${stack.path}/keys/${first.id}/rotate`)).body.key
  const third = (await stack.owner.post(`${stack.path}/keys/${second.id}/rotate`)).body.key
  const notices = async () => (await stack.owner.get(`${stack.projectPath}/notices`)).body.data
  await expect.poll(notices).toHaveLength(2)
  const event = { kind: 'key.rotated', threshold: null, open: true, deliveries: [{ webhook: webhook.id }] }
  expect(await notices()).toMatchObject([
    { ...event, key: second.id, details: { by: stack.owner.id, replacement: third.id } },
    { ...event, key: first.id, details: { by: first.id, replacement: second.id } },
  ])
})
