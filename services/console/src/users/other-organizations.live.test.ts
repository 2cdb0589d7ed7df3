import { expect } from 'vitest'
import { consoleTest as test, outcomeOf, type Caller } from '../console.fixture.ts'

// IDs of another organization give no access.

test('responds to the ID of another organization in a path with the same bytes as to an unknown ID [not_found]', async ({
  stack,
  fixture,
  signIn,
}) => {
  const other = await fixture.tenant()
  const project = await fixture.project(other)
  const otherKey = await fixture.key({ project, by: other.owner })
  const theirs = await signIn({ id: other.owner })
  const ids = { tenant: other.tenant, team: other.team, project: project.id, key: otherKey.id, user: other.owner }
  const never = {
    tenant: 'ten_00000000000000000000000000',
    team: 'tea_00000000000000000000000000',
    project: 'prj_00000000000000000000000000',
    key: 'key_00000000000000000000000000',
    user: 'usr_00000000000000000000000000',
  }
  const mine = { ...ids, tenant: stack.tenant, team: stack.team, project: stack.project }
  type Ids = typeof ids
  const calls = (ids: Ids): [keyof Caller & ('get' | 'post' | 'put' | 'patch' | 'delete'), string, object?][] => {
    const t = `/api/v2/tenants/${ids.tenant}`
    const p = `${t}/projects/${ids.project}`
    return [
      ['get', `${t}/members`],
      ['patch', `${t}/members/${ids.user}`, { role: 'Member' }],
      ['get', `${t}/invitations`],
      ['post', `${t}/invitations`, { email: 'a@example.test' }],
      ['post', `${t}/invitations/ivt_1/resend`],
      ['delete', `${t}/invitations/ivt_1`],
      ['delete', `${t}/members/${ids.user}`],
      ['get', `${t}/teams/${ids.team}/members`],
      ['post', `${t}/teams/${ids.team}/members`, { user: stack.owner.id }],
      ['delete', `${t}/teams/${ids.team}/members/${ids.user}`],
      ['delete', `${t}/teams/${ids.team}`],
      ['get', `${t}/audit`],
      ['get', `${t}/projects`],
      ['delete', p],
      ['get', `${p}/grants`],
      ['post', `${p}/grants`, { user: stack.owner.id, role: 'Project Owner' }],
      ['delete', `${p}/grants/${ids.user}`],
      ['get', `${p}/assignments`],
      ['put', `${p}/assignments/acme%2Fswift`],
      ['delete', `${p}/assignments/acme%2Fswift`],
      ['get', `${p}/wallet`],
      ['get', `${p}/usage`],
      ['get', `${p}/invocations`],
      ['get', `${p}/invocations/inv_x`],
      ['get', `${t}/keys`],
      ['post', `${t}/keys`, { project: ids.project }],
      ['get', `${t}/keys/${ids.key}`],
      ['post', `${t}/keys/${ids.key}/rotate`],
      ['post', `${t}/keys/${ids.key}/revoke`],
    ]
  }
  const askAll = (ids: Ids) =>
    Promise.all(calls(ids).map(([method, path, body]) => stack.owner[method](path, body))).then((answers) =>
      answers.map((answer, n) => [calls(mine)[n]![1], outcomeOf(answer), JSON.stringify(answer.body)]),
    )
  const nothing = await askAll(never)
  expect(new Set(nothing.map(([, refusal]) => refusal))).toEqual(new Set(['404 not_found']))
  expect(await askAll(ids)).toEqual(nothing)

  // Within the caller's organization: a foreign ID in place of an own ID is not found.
  const swaps: Partial<Ids>[] = [{ team: other.team }, { project: project.id }, { key: otherKey.id }]
  for (const swap of swaps) {
    const [field] = Object.keys(swap) as [keyof Ids]
    const touched = calls({ ...mine, ...swap }).filter(([, path]) => path.includes(ids[field]))
    const answers = await Promise.all(touched.map(([method, path, body]) => stack.owner[method](path, body)))
    expect(answers.map(outcomeOf)).toEqual(touched.map(() => '404 not_found'))
  }
  // The other organization is unchanged.
  expect((await theirs.get(`/api/v2/tenants/${other.tenant}/members`)).body.data).toHaveLength(1)
  expect((await theirs.get(`/api/v2/tenants/${other.tenant}/keys/${otherKey.id}`)).body.state).toBe('Active')
})

test('rejects the ID of another organization in a body, and finds nothing by it in a query', async ({
  stack,
  fixture,
}) => {
  const other = await fixture.tenant()
  const project = await fixture.project(other)
  const product = await fixture.product()
  await fixture.assign(project.id, product)
  const { owner } = stack
  const user = other.owner
  const listed = { project: stack.project, policy: 'listed', resources: [product] }
  const answers = [
    await owner.post(`${stack.path}/teams/${stack.team}/members`, { user }),
    await owner.post(`${stack.projectPath}/grants`, { user, role: 'Project Viewer' }),
    await owner.post(`${stack.path}/projects`, { name: 'Theirs', team: other.team }),
    await owner.post(`${stack.path}/keys`, { project: project.id }),
    await owner.post(`${stack.path}/keys`, listed),
  ]
  expect(answers.map(outcomeOf)).toEqual([
    '400 invalid_request',
    '400 invalid_request',
    '400 invalid_request',
    '404 not_found',
    '422 resource_not_eligible',
  ])
  await fixture.key({ project, by: other.owner })
  expect((await owner.get(`${stack.path}/keys?project=${project.id}`)).body.data).toEqual([])
})
