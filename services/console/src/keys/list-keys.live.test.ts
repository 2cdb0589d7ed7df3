import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

test('a creator, the Project Owner and an Admin manage a key; nobody else sees it [not_found]', async ({ stack }) => {
  const creator = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const { body } = await creator.post(`${stack.path}/keys`, { project: stack.project })
  const path = `${stack.path}/keys/${body.key.id}`
  const projectOwner = await stack.member({ project: 'Project Owner' })
  const admin = await stack.member({ tenant: 'Admin' })
  const consumer = await stack.member({ team: 'Team Owner', project: 'Project Consumer' })
  for (const one of [creator, projectOwner, admin]) {
    expect(outcomeOf(await one.get(path))).toBe('200')
    expect((await one.get(`${stack.path}/keys?project=${stack.project}`)).body.data).toEqual([body.key])
  }
  const never = await consumer.get(`${stack.path}/keys/key_never`)
  for (const answer of [
    await consumer.get(path),
    await consumer.post(`${path}/revoke`),
    await consumer.post(`${path}/rotate`),
  ])
    expect([outcomeOf(answer), answer.body]).toEqual(['404 not_found', never.body])
  expect((await consumer.get(`${stack.path}/keys`)).body.data).toEqual([])
})
