import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

// spec: 3.2/s3
test('refuses to revoke or rotate a revoked key [key_not_active]', async ({ stack }) => {
  const { body } = await stack.owner.post(`${stack.path}/keys`, { project: stack.project })
  const path = `${stack.path}/keys/${body.key.id}`
  const revoked = await stack.owner.post(`${path}/revoke`)
  expect([outcomeOf(revoked), revoked.body.state]).toEqual(['200', 'Revoked'])
  const again = await stack.owner.post(`${path}/revoke`)
  expect(outcomeOf(again)).toBe('409 key_not_active')
  expect(again.body.error.details).toEqual({ state: 'Revoked', rotatedTo: null })
  expect(outcomeOf(await stack.owner.post(`${path}/rotate`))).toBe('409 key_not_active')
})

test('a rotated key can be revoked during its grace period and after it, but not without one', async ({
  stack,
  fixture,
}) => {
  const create = async () => (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body.key.id
  const rotate = (id: string, graceSeconds: number) =>
    stack.owner.post(`${stack.path}/keys/${id}/rotate`, { graceSeconds })
  const [inGrace, past, without] = [await create(), await create(), await create()]
  await rotate(inGrace, 86_400)
  await rotate(past, 60)
  await fixture.run('UPDATE control.keys SET grace_until = now() WHERE id = $1', [past])
  await rotate(without, 0)
  for (const id of [inGrace, past])
    expect((await stack.owner.post(`${stack.path}/keys/${id}/revoke`)).body.state).toBe('Revoked')
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys/${without}/revoke`))).toBe('409 key_not_active')
  const tooLong = await rotate(await create(), 86_401)
  expect([outcomeOf(tooLong), tooLong.body.error.param]).toEqual(['400 invalid_request', 'graceSeconds'])
})
