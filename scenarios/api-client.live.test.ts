import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ApiRefusal } from '@gateway/api-client/failures'
import { openApiClient } from '@gateway/api-client/open-api-client'
import { liveStackTest as test } from './src/live-stack-test.ts'

// The typed client through a gateway, as the console page uses it. client.scenario.ts runs flows with it.

test('creates a key once per idempotency key, lists keys page by page, and types refusals with their resolution', async ({
  stack,
}) => {
  const owners = await stack.fixture.tenant()
  const { id: project, tenant } = await stack.fixture.project(owners)
  const { secret } = await stack.fixture.token(owners.owner)
  const user = openApiClient({ baseUrl: stack.gateways[0]!.url, headers: { authorization: `Bearer ${secret}` } })
  const params = { tenant }
  const issue = (name: string, idempotencyKey: string) =>
    user.ask('POST', '/api/v2/tenants/{tenant}/keys', { params, body: { project, name }, idempotencyKey })
  const idempotencyKey = randomUUID()
  const made = await issue('first', idempotencyKey)
  expect(made.secret).toMatch(/^svc_/)
  expect(await issue('first', idempotencyKey)).toMatchObject({ key: { id: made.key.id }, secret: null })
  await Promise.all(['second', 'third', 'fourth'].map((name) => issue(name, randomUUID())))

  const pages = await Array.fromAsync(
    user.pages('/api/v2/tenants/{tenant}/keys', { params, query: { limit: 2, project } }),
  )
  expect(pages.map(({ data }) => data.length)).toEqual([2, 2])
  const names = pages.flatMap(({ data }) => data.map(({ name }) => name))
  expect(new Set(names)).toEqual(new Set(['first', 'second', 'third', 'fourth']))

  const another = await issue('other', idempotencyKey).catch((error: unknown) => error)
  expect(another).toBeInstanceOf(ApiRefusal)
  const { code, status, resolution, requestId } = another as ApiRefusal
  expect([code, status, resolution, requestId]).toEqual([
    'idempotency_mismatch',
    422,
    expect.any(String),
    expect.any(String),
  ])
  const nowhere = user.ask('GET', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key: 'key_none' } })
  await expect(nowhere).rejects.toMatchObject({ code: 'not_found', status: 404 })
  const statement = await user.raw('GET', '/api/v2/tenants/{tenant}/projects/{project}/statement', {
    params: { tenant, project },
    query: { format: 'csv' },
  })
  expect(await statement.text()).toMatch(/^day,entry,/)
})
