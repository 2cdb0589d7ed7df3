import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

test('the platform operator can create an organization, becomes its first Admin and can delete it', async ({
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const made = await operator.post('/api/v2/tenants', { name: 'New' })
  expect(outcomeOf(made)).toBe('201')
  const path = `/api/v2/tenants/${made.body.id}`
  expect((await operator.get(`${path}/members`)).body.data).toMatchObject([{ id: operator.id, role: 'Admin' }])
  const { body } = await operator.get(`${path}/audit`)
  expect(body.data).toMatchObject([{ user: operator.id, action: 'tenant.create', subject: made.body.id }])
  expect(outcomeOf(await operator.delete(path))).toBe('204')
  expect(outcomeOf(await operator.get(`${path}/members`))).toBe('404 not_found')
})

test('refuses to delete an organization with projects [not_empty]', async ({ stack, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const answer = await operator.delete(stack.path)
  expect(outcomeOf(answer)).toBe('409 not_empty')
  expect(answer.body.error.resolution).toBe('Delete the projects first.')
})

test('an Admin changes the role of a member and nothing else of them, and adds no one without an invitation [invalid_request, not_found]', async ({
  stack,
  signIn,
}) => {
  const member = await stack.member()
  const path = `${stack.path}/members/${member.id}`
  const raised = await stack.owner.patch(path, { role: 'Admin' })
  expect([outcomeOf(raised), raised.body]).toEqual([
    '200',
    { ...raised.body, id: member.id, name: 'A user', role: 'Admin' },
  ])
  for (const [field, value] of Object.entries({ email: 'a@example.test', name: 'Renamed', password: 'of an Admin' })) {
    const answer = await stack.owner.patch(path, { role: 'Member', [field]: value })
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', field])
  }
  const outsider = await signIn()
  const answer = await stack.owner.patch(`${stack.path}/members/${outsider.id}`, { role: 'Member' })
  expect(outcomeOf(answer)).toBe('404 not_found')
})

test('an organization keeps an Admin even when two remove each other concurrently [last_admin]', async ({ stack }) => {
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/members/${stack.owner.id}`))).toBe('409 last_admin')
  const other = await stack.member({ tenant: 'Admin' })
  const answers = await Promise.all([
    stack.owner.delete(`${stack.path}/members/${other.id}`),
    other.delete(`${stack.path}/members/${stack.owner.id}`),
  ])
  const outcomes = answers.map(outcomeOf)
  expect(outcomes).toContain('200')
  // The loser's request was authorized either before their removal (last Admin) or after it (not found).
  expect(outcomes.find((outcome) => outcome !== '200')).toMatch(/^(409 last_admin|404 not_found)$/)
})

test('a user who has left the organization sees nothing of it, and their roles have ended [not_found]', async ({
  stack,
}) => {
  const leaver = await stack.member({ team: 'Team Owner', project: 'Project Owner' })
  expect(outcomeOf(await leaver.get(`${stack.projectPath}/usage`))).toBe('200')
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/members/${leaver.id}`))).toBe('200')
  for (const path of [
    `${stack.path}/members`,
    `${stack.path}/projects`,
    `${stack.projectPath}/usage`,
    `${stack.path}/keys`,
  ])
    expect(outcomeOf(await leaver.get(path))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/members/${leaver.id}`))).toBe('404 not_found')
})

test('a team is created with its creator as owner, accepts members and can be deleted once it has no projects [not_empty]', async ({
  stack,
}) => {
  const member = await stack.member()
  const team = await stack.owner.post(`${stack.path}/teams`, { name: 'Second' })
  const members = `${stack.path}/teams/${team.body.id}/members`
  expect((await stack.owner.get(members)).body.data).toMatchObject([{ id: stack.owner.id, role: 'Team Owner' }])
  expect(outcomeOf(await stack.owner.post(members, { user: member.id, role: 'Team Member' }))).toBe('201')
  expect(outcomeOf(await stack.owner.post(members, { user: member.id, role: 'Team Owner' }))).toBe('200')
  expect(outcomeOf(await stack.owner.post(members, { user: 'usr_nobody', role: 'Team Owner' }))).toBe(
    '400 invalid_request',
  )
  expect(outcomeOf(await stack.owner.delete(`${members}/${member.id}`))).toBe('204')
  expect(outcomeOf(await stack.owner.delete(`${members}/${member.id}`))).toBe('404 not_found')

  const project = await stack.owner.post(`${stack.path}/projects`, { name: 'Its own', team: team.body.id })
  const path = `${stack.path}/teams/${team.body.id}`
  expect(outcomeOf(await stack.owner.delete(path))).toBe('409 not_empty')
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/projects/${project.body.id}`))).toBe('204')
  expect(outcomeOf(await stack.owner.delete(path))).toBe('204')
})
