import { expect } from 'vitest'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import { outcomeOf } from '../console.fixture.ts'
import { asking, echo } from '../sandboxes/graphs.fixture.ts'
import { executionTest as test, input } from './executions.fixture.ts'

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as ProgressLine)

test('a user can follow an execution started by a key, from any line', async ({ flow, stack, services, fixture }) => {
  const { id } = await flow.made(asking(flow.product))
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const key = await fixture.key({
    project: { id: stack.project, tenant: stack.tenant, team: stack.team },
    by: stack.owner.id,
  })
  const { url } = services.gateways[0]!
  const invoked = fetch(`${url}/v1/sandbox/${id}/invoke`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key.secret}`, Accept: 'application/json', 'Idempotency-Key': 'followed-1' },
    body: JSON.stringify({ input }),
  })
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [id])
  const execution = (rows as [{ id: string }])[0].id
  const follow = (query: string) =>
    fetch(`${url}${stack.projectPath}/executions/${execution}/progress${query}`, {
      headers: { Authorization: `Bearer ${stack.owner.token}` },
    })
  const [all, behind] = [await follow(''), await follow('?after=1')] // the headers arrive before line 2 exists
  expect([all.status, all.headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson'])
  await control.clearFaults()
  await control.release()
  const lines = linesOf(await all.text())
  expect(lines.map(({ kind, seq }) => [kind, seq])).toEqual([
    ['admitted', 0],
    ['node', 1],
    ['node', 2],
    ['node', 3],
    ['complete', 4],
  ])
  expect(linesOf(await behind.text())).toEqual(lines.slice(2))
  expect(lines.at(-1)).toMatchObject({ execution: (await (await invoked).json()) as ExecutionRecord })
})

test('responds with 404 to a progress request from a user who may not use the sandbox products of the project [execution_not_found]', async ({
  flow,
  stack,
  fixture,
}) => {
  const { execute } = await flow.made(echo)
  const { id } = (await execute(input)).body as ExecutionRecord
  const at = (execution: string) => `${stack.projectPath}/executions/${execution}/progress`
  const viewer = await stack.member({ project: 'Project Viewer' })
  const consumer = await stack.member({ project: 'Project Consumer' })
  expect(outcomeOf(await viewer.get(at(id)))).toBe('404 execution_not_found')
  expect(outcomeOf(await consumer.get(at(fixture.id('exe'))))).toBe('404 execution_not_found')
  expect(outcomeOf(await consumer.get(`${at(id)}?after=x`))).toBe('400 invalid_request')
  expect(outcomeOf(await consumer.get(`${at(id)}?after=9`))).toBe('200')
})

test('sends no further progress to a user whose grant is removed [execution_not_found]', async ({
  flow,
  stack,
  services,
  fixture,
}) => {
  const { path } = await flow.made(asking(flow.product))
  const user = await fixture.issuer({ id: stack.project, tenant: stack.tenant, team: stack.team })
  const { secret } = await fixture.token(user)
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const executed = stack.owner.post(`${path}/execute`, { input })
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE project = $1 AND completed_at IS NULL', [
    stack.project,
  ])
  const { id } = (rows as [{ id: string }])[0]
  const answer = await fetch(`${services.gateways[0]!.url}${stack.projectPath}/executions/${id}/progress`, {
    headers: { Authorization: `Bearer ${secret}` },
  })
  const text = answer.text()
  await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [user])
  await control.clearFaults()
  await control.release()
  expect(linesOf(await text).at(-1)).toMatchObject({ kind: 'refused', error: { code: 'execution_not_found' } })
  expect((await executed).body).toMatchObject({ id, status: 'Succeeded' })
})
