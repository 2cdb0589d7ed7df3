import { expect } from 'vitest'
import { consoleTest as test, outcomeOf, untilBlocked } from '../console.fixture.ts'

test('responds with 404 if the project is deleted while the request waits [not_found]', async ({ stack, fixture }) => {
  const product = await fixture.product()
  const asks = [
    () => stack.owner.post(`${stack.path}/keys`, { project: stack.project }),
    () => stack.owner.put(`${stack.projectPath}/assignments/${encodeURIComponent(product)}`),
  ]
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM control.projects WHERE id = $1 FOR UPDATE', [stack.project])
  const answers = asks.map((one) => one())
  await untilBlocked(fixture, asks.length)
  await fixture.run('DELETE FROM control.project_grants WHERE project = $1', [stack.project])
  await fixture.run('DELETE FROM control.projects WHERE id = $1', [stack.project])
  await fixture.run('COMMIT')
  expect((await Promise.all(answers)).map(outcomeOf)).toEqual(['404 not_found', '404 not_found'])
})

test('responds with 404 if the sandbox product is deleted while the request waits [not_found]', async ({
  stack,
  fixture,
}) => {
  const { path, owner, projectPath } = stack
  const graph = { input: { type: 'object', properties: {} }, output: { type: 'object', properties: {} } }
  const { id } = (await owner.post(`${projectPath}/sandboxes`, { name: 'Flow', description: 'A flow' })).body
  const sandbox = `${path}/sandboxes/${id}`
  const asks = [
    () => owner.post(`${sandbox}/revisions`, { graph: { ...graph, nodes: [], edges: [] } }),
    () => owner.patch(sandbox, { name: 'Another' }),
  ]
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM control.sandboxes WHERE id = $1 FOR UPDATE', [id])
  const answers = asks.map((one) => one())
  await untilBlocked(fixture, asks.length)
  await fixture.run('DELETE FROM control.sandboxes WHERE id = $1', [id])
  await fixture.run('COMMIT')
  expect((await Promise.all(answers)).map(outcomeOf)).toEqual(['404 not_found', '404 not_found'])
})

test('no query parameter value causes a 5xx response', async ({ stack }) => {
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
    `${'9'.repeat(15)}.funding.x`,
  ]
  const lists = ['members', 'teams', 'projects', 'keys', 'audit'].map((name) => `${stack.path}/${name}`)
  lists.push(`${stack.projectPath}/grants`, `${stack.projectPath}/invocations`, '/api/v2/products', '/api/v2/tenants')
  lists.push(`${stack.projectPath}/fundings`, `${stack.projectPath}/journal`)
  const queries = lists.flatMap((path) => odd.flatMap((value) => [`${path}?cursor=${value}`, `${path}?limit=${value}`]))
  const moments = [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '-271821-04-20T00:00:00Z',
  ]
  for (const moment of moments)
    queries.push(`${stack.projectPath}/usage?from=${moment}`, `${stack.projectPath}/usage?to=${moment}`)
  for (const value of [...odd, '1970-01', '9997-12', '1969-12', '2026-13', '0000-00'])
    queries.push(
      `${stack.projectPath}/statement?month=${value}`,
      `${stack.projectPath}/statement?from=${value}&to=2026-01-02`,
    )
  const bad: string[] = []
  for (const query of queries) {
    const answer = await stack.owner.get(query)
    if (answer.status >= 500) bad.push(`${answer.status} ${query}`)
  }
  expect(bad).toEqual([])
})
