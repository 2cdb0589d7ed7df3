import { expect } from 'vitest'
import { callerAt, said } from './src/caller.ts'
import { stackTest as test } from './src/stack-test.ts'
import { chat } from './src/stack.ts'

// A key from before keys were bound to projects (rules §6.10).

// spec: 3.2/s3
test('a legacy key stays as it is, bound to nothing and not revoked, whatever happens around it [key_unbound]', async ({
  stack,
}) => {
  const { fixture } = stack
  const tenant = await stack.tenant(1_000_000n) // its one project, owned by whoever made the key: nothing else could be meant
  const { project, owner, model } = tenant
  const legacy = await fixture.key({ project: null, tenant: project.tenant, by: owner })
  const person = callerAt(stack.gateways[0]!.url, (await fixture.token(owner)).secret)
  const keys = `/api/v2/tenants/${project.tenant}/keys`
  const shown = async () => (await person.ask('GET', `${keys}/${legacy.id}`)).body as Record<string, unknown>
  const call = async (headers: Record<string, string> = {}) =>
    callerAt(stack.gateways[0]!.url, legacy.secret).ask('GET', '/v1/models', undefined, headers)

  const before = await shown()
  expect(before).toMatchObject({ state: 'NeedsReissue', project: null, rotatedTo: null })
  expect(said(await call())).toBe('403 key_unbound')
  expect(said(await call({ 'x-service-project': project.id }))).toBe('403 key_unbound')
  expect((await chat(stack, { key: legacy, model })).status).toBe(403)
  expect(said(await person.ask('POST', `${keys}/${legacy.id}/rotate`))).toBe('409 key_not_active')
  const issued = await person.ask('POST', keys, { project: project.id, name: 'the new one' })
  expect((await person.ask('POST', `${keys}/${issued.body.key.id}/rotate`)).status).toBe(201)
  expect((await person.ask('POST', `${keys}/${tenant.key.id}/revoke`)).status).toBe(200)

  expect(await shown()).toEqual({ ...before, lastUsedAt: expect.toBeOneOf([null, expect.any(String)]) })
  expect(said(await call())).toBe('403 key_unbound')
  expect((await stack.wallet(project.id)).settled).toBe(0n)
})
