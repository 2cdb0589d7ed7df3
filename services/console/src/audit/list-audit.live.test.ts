import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'
import { HIDDEN_SANDBOX } from '../permissions/visible-projects.ts'
import { echo } from '../sandboxes/graphs.fixture.ts'

const rowsOf = (body: { data: { action: string; subject: string }[] }) =>
  body.data.map(({ action, subject }) => `${action} ${subject}`)

test('users read their own actions in all organizations, and no one else’s', async ({ stack, signIn }) => {
  const other = await stack.member({ tenant: 'Admin' })
  const { id } = (await stack.owner.post(`${stack.path}/teams`, { name: 'Mine' })).body
  await other.post(`${stack.path}/teams`, { name: 'Theirs' })
  const session = await signIn({ id: stack.owner.id, by: 'session' })
  const { token } = (await session.post('/api/v2/me/tokens', { name: 't' })).body
  const { body } = await stack.owner.get('/api/v2/me/audit')
  expect(rowsOf(body)).toEqual([`token.create ${token.id}`, `team.create ${id}`])
  expect((await stack.owner.get(`/api/v2/me/audit?user=${other.id}`)).body.data).toHaveLength(2)
})

test('an Admin reads the sign-in events of members, and an operator those of everyone', async ({ stack, signIn }) => {
  const member = await stack.member()
  const outsider = await signIn()
  const operator = await signIn({ platformOperator: true })
  const [mine, theirs] = await Promise.all(
    [member, outsider].map(
      async ({ id }) =>
        (await (await signIn({ id, by: 'session' })).post('/api/v2/me/tokens', { name: 't' })).body.token.id as string,
    ),
  )
  expect(rowsOf((await stack.owner.get(`${stack.path}/audit`)).body)).toEqual([`token.create ${mine}`])
  const { body } = await operator.get(`/api/v2/audit?user=${member.id}`)
  expect(body.data).toMatchObject([
    { action: 'token.create', subject: mine, tenant: null, userName: expect.any(String) },
  ])
  expect(rowsOf((await operator.get('/api/v2/audit?action=token.create&limit=2')).body).toSorted()).toEqual(
    [`token.create ${mine}`, `token.create ${theirs}`].toSorted(),
  )
  expect(rowsOf((await operator.get(`/api/v2/audit?tenant=${stack.tenant}&limit=1`)).body)).toEqual([])
})

test('a suspended member reads neither names nor details of flows in their own entries', async ({ stack }) => {
  const member = await stack.member({ project: 'Project Consumer' })
  const { id } = (await stack.owner.post(`${stack.projectPath}/sandboxes`, { name: 'Private' })).body
  const sandbox = `${stack.path}/sandboxes/${id}`
  expect(outcomeOf(await member.post(`${sandbox}/revisions`, { graph: echo }))).toBe('201')
  const own = async () => (await member.get('/api/v2/me/audit?action=revision.save')).body.data
  expect(await own()).toMatchObject([{ subject: id, subjectName: 'Private', details: { revision: 1 } }])
  expect(outcomeOf(await stack.owner.post(`${stack.path}/members/${member.id}/suspend`, {}))).toBe('200')
  await stack.owner.patch(sandbox, { name: 'Renamed' })
  expect(await own()).toMatchObject([{ subject: HIDDEN_SANDBOX, subjectName: null, details: {} }])
})

test('filters by address and outcome', async ({ stack, fixture }) => {
  const add = (address: string, outcome: string) =>
    fixture.run(`INSERT INTO control.audit (tenant, action, subject, address, outcome) VALUES ($1, 'a', $2, $2, $3)`, [
      stack.tenant,
      address,
      outcome,
    ])
  await add('203.0.113.1', 'refused')
  await add('203.0.113.2', 'refused')
  await add('203.0.113.2', 'succeeded')
  const found = async (query: string) =>
    (await stack.owner.get(`${stack.path}/audit?${query}`)).body.data.length as number
  expect(await found('outcome=refused')).toBe(2)
  expect(await found('address=203.0.113.2')).toBe(2)
  expect(await found('address=203.0.113.2&outcome=refused')).toBe(1)
  expect(outcomeOf(await stack.owner.get(`${stack.path}/audit?outcome=lost`))).toBe('400 invalid_request')
})

test('a CSV file has all entries that match, guards formulas, and is an audit entry itself', async ({
  console,
  stack,
  fixture,
}) => {
  await fixture.run(
    `INSERT INTO control.audit (tenant, at, action, subject, device)
     SELECT $1, timestamptz '2026-01-01' + n * interval '1 second', 'team.create', 'tea_' || n, '=cmd()'
       FROM generate_series(1, 10005) n`,
    [stack.tenant],
  )
  const read = async (query: string) => {
    const answer = await fetch(`${console.url}${stack.path}/audit?format=csv&action=team.create${query}`, {
      headers: { Authorization: `Bearer ${stack.owner.token}` },
    })
    expect([answer.status, answer.headers.get('Content-Disposition')]).toEqual([
      200,
      expect.stringMatching(new RegExp(`^attachment; filename="audit-${stack.tenant}-\\d{4}-\\d\\d-\\d\\d.csv"$`)),
    ])
    return { lines: (await answer.text()).trimEnd().split('\r\n'), next: answer.headers.get('Next-Cursor') }
  }
  const { lines, next } = await read('')
  expect([lines.length, lines[1]]).toEqual([10_001, expect.stringContaining(`tea_10005,succeeded,,,'=cmd(),{}`)])
  const rest = await read(`&cursor=${next}`)
  expect([rest.lines.length, rest.next]).toEqual([6, null])
  const { body } = await stack.owner.get(`${stack.path}/audit?action=audit.export`)
  expect(body.data).toMatchObject([{ subject: stack.tenant }, { details: { format: 'csv' } }])
})

test.for([
  ['usage', 'usage.export'],
  ['statement', 'statement.export'],
] as const)('a file of the %s is an audit entry, and its JSON is none', async ([what, action], { console, stack }) => {
  const read = (query: string) =>
    fetch(`${console.url}${stack.projectPath}/${what}${query}`, {
      headers: { Authorization: `Bearer ${stack.owner.token}` },
    })
  expect((await read('')).status).toBe(200)
  expect((await read('?format=csv')).status).toBe(200)
  const { body } = await stack.owner.get(`${stack.path}/audit?subject=${stack.project}`)
  expect(rowsOf(body)).toEqual([`${action} ${stack.project}`])
})

test('an operator reads the names of organizations, projects and users, and a member reads none', async ({
  stack,
  fixture,
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const name = async (table: string, id: string) =>
    (await fixture.run(`SELECT name FROM control.${table} WHERE id = $1`, [id])).rows[0].name as string
  await operator.post(`${stack.projectPath}/wallet/fundings`, { fundingId: 'invoice-1', micro: 5 })
  const member = await stack.member()
  await stack.owner.post(`${stack.projectPath}/grants`, { user: member.id, role: 'Project Viewer' })
  const { data } = (await operator.get(`/api/v2/audit?tenant=${stack.tenant}&limit=2`)).body
  const known = {
    [stack.tenant]: await name('tenants', stack.tenant),
    [stack.project]: await name('projects', stack.project),
  }
  expect(data).toMatchObject([
    { action: 'grant.set', names: { ...known, [member.id]: await name('users', member.id) } },
    { action: 'wallet.fund', subject: `${stack.project}/invoice-1`, names: known },
  ])
  const own = (await stack.owner.get(`${stack.path}/audit?limit=1`)).body.data[0]
  expect(own).not.toHaveProperty('names')
})
