import { expect } from 'vitest'
import { consoleTest as test, said, untilSomebodyWaits } from '../console.fixture.ts'

test('what refers to something that is deleted meanwhile finds nothing [not_found]', async ({ house, world }) => {
  const product = await world.product()
  const asks = [
    () => house.owner.post(`${house.path}/keys`, { project: house.project }),
    () => house.owner.put(`${house.projectPath}/assignments/${encodeURIComponent(product)}`),
  ]
  await world.run('BEGIN')
  await world.run('SELECT FROM control.projects WHERE id = $1 FOR UPDATE', [house.project])
  const answers = asks.map((one) => one())
  await untilSomebodyWaits(world, asks.length)
  await world.run('DELETE FROM control.project_grants WHERE project = $1', [house.project])
  await world.run('DELETE FROM control.projects WHERE id = $1', [house.project])
  await world.run('COMMIT')
  expect((await Promise.all(answers)).map(said)).toEqual(['404 not_found', '404 not_found'])
})

test('no query or id makes the console fail', async ({ house }) => {
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
  ]
  const lists = ['members', 'teams', 'projects', 'keys', 'audit'].map((name) => `${house.path}/${name}`)
  lists.push(`${house.projectPath}/grants`, `${house.projectPath}/invocations`, '/api/v2/products', '/api/v2/tenants')
  const queries = lists.flatMap((path) => odd.flatMap((value) => [`${path}?cursor=${value}`, `${path}?limit=${value}`]))
  const moments = [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '-271821-04-20T00:00:00Z',
  ]
  for (const moment of moments)
    queries.push(`${house.projectPath}/usage?from=${moment}`, `${house.projectPath}/usage?to=${moment}`)
  const bad: string[] = []
  for (const query of queries) {
    const answer = await house.owner.get(query)
    if (answer.status >= 500) bad.push(`${answer.status} ${query}`)
  }
  expect(bad).toEqual([])
})
