import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ApiRefusal } from '@gateway/api-client/failures'
import { openApiClient, type ClientOptions } from '@gateway/api-client/open-api-client'
import type { Stack } from './src/stack.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'

// The typed client through a gateway, as the console page and a program with a key use it.

const open = (stack: Stack, secret: string, fetch?: ClientOptions['fetch']) =>
  openApiClient({
    baseUrl: stack.gateways[0]!.url,
    headers: { authorization: `Bearer ${secret}` },
    ...(fetch && { fetch }),
  })

async function owned(stack: Stack) {
  const of = await stack.fixture.tenant()
  const project = await stack.fixture.project(of, 1_000_000n)
  const key = await stack.fixture.key({ project, by: of.owner })
  const user = open(stack, (await stack.fixture.token(of.owner)).secret)
  return { tenant: of.tenant, project: project.id, user, key: key.secret }
}

test('creates a key once per idempotency key, lists keys page by page, and types refusals with their resolution', async ({
  stack,
}) => {
  const { tenant, project, user } = await owned(stack)
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
  expect(pages.length).toBeGreaterThan(2)
  const names = pages.flatMap(({ data }) => data.map(({ name }) => name))
  expect(names.filter((name) => ['first', 'second', 'third', 'fourth'].includes(name ?? ''))).toHaveLength(4)

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

test('creates, runs and follows a flow, and runs it once when the response is lost', async ({ stack }) => {
  const { tenant, project, user, key } = await owned(stack)
  const { id } = await user.ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/sandboxes', {
    params: { tenant, project },
    body: { name: 'Echo' },
  })
  const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  const nodes = [
    { id: 'in', kind: 'input' },
    { id: 'out', kind: 'output' },
  ]
  const graph = { input: text, output: text, nodes, edges: [{ from: 'in.text', to: 'out.text' }] }
  const at = { tenant, sandbox: id }
  const { number } = await user.ask('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions', {
    params: at,
    body: { graph },
  })
  await user.ask('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions/{number}/activate', {
    params: { ...at, number: String(number) },
  })

  const lost: string[] = []
  const program = open(stack, key, async (...request) => {
    const answer = await fetch(...request)
    if (lost.length > 0) return answer
    lost.push(await answer.text())
    throw new TypeError('the connection was cut')
  })
  const invocation = { params: { id }, body: { input: { text: 'Hello' } }, idempotencyKey: randomUUID() }
  const execution = await program.ask('POST', '/v1/sandbox/{id}/invoke', invocation)
  expect(execution).toMatchObject({ status: 'Succeeded', output: { text: 'Hello' } })
  expect(JSON.parse(lost[0]!)).toEqual(execution)

  const lines = await Array.fromAsync(program.stream('POST', '/v1/sandbox/{id}/invoke', invocation))
  expect(lines.at(0)).toMatchObject({ kind: 'admitted', executionId: execution.id })
  expect(lines.at(-1)).toMatchObject({ kind: 'complete', execution: { id: execution.id } })
  const behind = program.stream('GET', '/v1/executions/{id}/progress', {
    params: { id: execution.id },
    query: { after: 0 },
  })
  expect(await Array.fromAsync(behind)).toEqual(lines.slice(1))

  const none = program.stream('POST', '/v1/sandbox/{id}/invoke', { ...invocation, params: { id: 'sbx-none' } })
  await expect(none.next()).rejects.toMatchObject({ code: 'sandbox_not_found' })
})
