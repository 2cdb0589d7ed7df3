import { expect } from 'vitest'
import { callerOf, consoleTest, outcomeOf, untilBlocked } from '../console.fixture.ts'

const test = consoleTest.extend('operator', ({ signIn }) => signIn({ platformOperator: true, by: 'session' }))

test('an operator lists, adds and removes operators, by session only [not_permitted] [session_required]', async ({
  operator,
  signIn,
  fixture,
  console,
}) => {
  const user = await signIn({ by: 'session' })
  /** All pages: other tests have operators too. */
  async function listed(cursor = ''): Promise<string[]> {
    const { body } = await operator.get(
      `/api/v2/operators?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    const ids = (body.data as { id: string }[]).map(({ id }) => id)
    return body.nextCursor === null ? ids : [...ids, ...(await listed(body.nextCursor))]
  }
  expect(await listed()).toContain(operator.id)
  expect(outcomeOf(await user.get('/api/v2/operators'))).toBe('403 not_permitted')
  expect(outcomeOf(await user.post('/api/v2/operators', { user: user.id }))).toBe('403 not_permitted')
  const token = callerOf(console.url, operator.id, (await fixture.token(operator.id)).secret)
  expect(outcomeOf(await token.post('/api/v2/operators', { user: user.id }))).toBe('403 session_required')

  expect(outcomeOf(await operator.post('/api/v2/operators', { user: user.id }))).toBe('201')
  expect(outcomeOf(await operator.post('/api/v2/operators', { user: user.id }))).toBe('200')
  expect(await listed()).toContain(user.id)
  expect(outcomeOf(await user.get('/api/v2/operators'))).toBe('200')
  expect(outcomeOf(await operator.delete(`/api/v2/operators/${user.id}`))).toBe('204')
  expect(outcomeOf(await operator.delete(`/api/v2/operators/${user.id}`))).toBe('404 not_found')
  expect(outcomeOf(await user.get('/api/v2/operators'))).toBe('403 not_permitted')
  expect(outcomeOf(await operator.post('/api/v2/operators', { user: 'usr_none' }))).toBe('400 invalid_request')
})

test('a user whose email is not verified becomes an operator only if the caller says so', async ({
  operator,
  signIn,
  fixture,
}) => {
  const user = await signIn({ by: 'session' })
  await fixture.run(`UPDATE control.users SET vouched_by = 'ten_1' WHERE id = $1`, [user.id])
  const refused = await operator.post('/api/v2/operators', { user: user.id })
  expect([outcomeOf(refused), refused.body.error.param]).toEqual(['400 invalid_request', 'emailVerified'])
  const made = await operator.post('/api/v2/operators', { user: user.id, emailVerified: false })
  expect([outcomeOf(made), made.body.emailVerified]).toEqual(['201', false])
})

test('an operator who may sign in is left even when two remove or disable each other concurrently [last_operator]', async ({
  fixture,
  signIn,
}) => {
  await fixture.run('UPDATE control.users SET platform_operator = false')
  const [one, other] = [
    await signIn({ platformOperator: true, by: 'session' }),
    await signIn({ platformOperator: true, by: 'session' }),
  ]
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM control.users WHERE platform_operator FOR UPDATE')
  const asked = [one.delete(`/api/v2/operators/${other.id}`), other.post(`/api/v2/users/${one.id}/disable`)]
  await untilBlocked(fixture, 2)
  await fixture.run('COMMIT')
  const outcomes = (await Promise.all(asked)).map(outcomeOf)
  expect(outcomes.filter((outcome) => outcome.startsWith('2'))).toHaveLength(1)
  expect(outcomes.find((outcome) => !outcome.startsWith('2'))).toMatch(/^(409 last_operator|403 not_permitted)$/)
  const left = outcomes[0] === '204' ? one : other
  expect(outcomeOf(await left.delete(`/api/v2/operators/${left.id}`))).toBe('409 last_operator')
  expect(outcomeOf(await left.post(`/api/v2/users/${left.id}/disable`))).toBe('409 last_operator')
})

test('an operator finds a user by email, and sees none of their organizations [not_permitted]', async ({
  operator,
  stack,
}) => {
  const { body } = await operator.get(`/api/v2/users?email=${stack.owner.id}@example.test`)
  expect(body.data).toEqual([
    {
      id: stack.owner.id,
      email: `${stack.owner.id}@example.test`,
      name: 'A user',
      emailVerified: true,
      platformOperator: false,
      disabledAt: null,
      secondFactor: false,
      createdAt: expect.any(String) as string,
    },
  ])
  expect(outcomeOf(await stack.owner.get('/api/v2/users'))).toBe('403 not_permitted')
})

test('an operator removes the second factor of a user who lost it, which signs them out [not_found]', async ({
  console,
  operator,
  signIn,
  fixture,
}) => {
  const user = await signIn({ by: 'session' })
  const path = `/api/v2/users/${user.id}/second-factor`
  expect(outcomeOf(await operator.delete(path))).toBe('404 not_found')
  await user.post('/api/v2/me/second-factor', {})
  await fixture.run('UPDATE control.second_factors SET confirmed_at = now() WHERE user_id = $1', [user.id])
  const token = callerOf(console.url, user.id, (await fixture.token(user.id)).secret)
  expect((await operator.get(`/api/v2/users?email=${user.id}@example.test`)).body.data[0].secondFactor).toBe(true)
  expect(outcomeOf(await operator.delete(path))).toBe('204')
  expect(outcomeOf(await user.get('/api/v2/me'))).toBe('401 session_missing')
  expect(outcomeOf(await token.get('/api/v2/me'))).toBe('401 token_invalid')
})

test('an operator makes a member Admin only where every Admin is disabled, and no other role [not_permitted]', async ({
  stack,
  operator,
}) => {
  const [heir, other] = [await stack.member(), await stack.member()]
  const set = (user: string, role: string) => operator.patch(`${stack.path}/members/${user}`, { role })
  expect(outcomeOf(await set(heir.id, 'Admin'))).toBe('403 not_permitted')
  expect(outcomeOf(await operator.post(`/api/v2/users/${stack.owner.id}/disable`))).toBe('200')
  expect(outcomeOf(await set(heir.id, 'Member'))).toBe('403 not_permitted')
  expect(outcomeOf(await set('usr_none', 'Admin'))).toBe('404 not_found')
  const made = await set(heir.id, 'Admin')
  expect([outcomeOf(made), made.body.role]).toEqual(['200', 'Admin'])
  expect(outcomeOf(await set(other.id, 'Admin'))).toBe('403 not_permitted')
  const { data } = (await heir.get(`${stack.path}/audit?action=member.set`)).body
  expect(data).toMatchObject([{ user: operator.id, subject: heir.id, details: { role: 'Admin', before: 'Member' } }])
})

test('an operator cannot make Admin a member who may not sign in, since that would leave no Admin [invalid_request]', async ({
  stack,
  operator,
}) => {
  const [suspended, disabled] = [await stack.member(), await stack.member()]
  await stack.owner.post(`${stack.path}/members/${suspended.id}/suspend`)
  for (const { id } of [disabled, stack.owner])
    expect(outcomeOf(await operator.post(`/api/v2/users/${id}/disable`))).toBe('200')
  for (const { id } of [suspended, disabled]) {
    const refused = await operator.patch(`${stack.path}/members/${id}`, { role: 'Admin' })
    expect([outcomeOf(refused), refused.body.error.param]).toEqual(['400 invalid_request', 'user'])
  }
  const written = `SELECT FROM control.audit WHERE tenant = $1 AND action = 'member.set'`
  expect((await stack.fixture.run(written, [stack.tenant])).rows).toEqual([])
})

test('the keys of a disabled user are refused from the next call on, and work again once enabled [key_issuer_denied]', async ({
  operator,
  stack,
  ledger,
}) => {
  const key = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body.key.id as string
  const authorized = async () => {
    const { rows } = await stack.fixture.run('SELECT issuer_authorized FROM money.callers WHERE id = $1', [key])
    return (rows as { issuer_authorized: boolean }[])[0]!.issuer_authorized
  }
  expect(ledger).toBeDefined() // the barrier needs it
  expect(await authorized()).toBe(true)
  expect(outcomeOf(await operator.post(`/api/v2/users/${stack.owner.id}/disable`))).toBe('200')
  expect(await authorized()).toBe(false)
  expect(outcomeOf(await operator.post(`/api/v2/users/${stack.owner.id}/enable`))).toBe('200')
  expect(await authorized()).toBe(true)
})

test('a suspended member has no access to the organization, and neither have their keys, until resumed [not_found] [key_issuer_denied]', async ({
  stack,
}) => {
  const member = await stack.member({ tenant: 'Admin', team: 'Team Member', project: 'Project Owner' })
  const key = (await member.post(`${stack.path}/keys`, { project: stack.project })).body.key.id as string
  const authorized = async () => {
    const { rows } = await stack.fixture.run('SELECT issuer_authorized FROM money.callers WHERE id = $1', [key])
    return (rows as { issuer_authorized: boolean }[])[0]!.issuer_authorized
  }
  const suspended = await stack.owner.post(`${stack.path}/members/${member.id}/suspend`)
  expect(suspended.body).toMatchObject({ id: member.id, role: 'Admin', suspendedAt: expect.any(String) as string })
  for (const path of [`${stack.path}/members`, `${stack.projectPath}/wallet`, `${stack.projectPath}/grants`])
    expect(outcomeOf(await member.get(path))).toBe('404 not_found')
  expect((await member.get('/api/v2/tenants')).body.data).toEqual([])
  expect((await member.get('/api/v2/me')).body.tenants).toEqual([])
  expect(outcomeOf(await member.get('/api/v2/products'))).toBe('403 not_permitted')
  expect(await authorized()).toBe(false)
  expect(outcomeOf(await member.post(`${stack.path}/members/${member.id}/resume`))).toBe('404 not_found')
  // They still own the project: no Admin takes their place.
  expect(outcomeOf(await stack.owner.post(`${stack.path}/members/${member.id}/resume`))).toBe('200')
  expect(outcomeOf(await member.get(`${stack.projectPath}/wallet`))).toBe('200')
  expect(await authorized()).toBe(true)
})

test('an Admin who is not suspended is always left [last_admin] [not_permitted]', async ({ stack }) => {
  const member = await stack.member()
  const suspend = (by: typeof member, id: string) => by.post(`${stack.path}/members/${id}/suspend`)
  expect(outcomeOf(await suspend(member, stack.owner.id))).toBe('403 not_permitted')
  expect(outcomeOf(await suspend(stack.owner, stack.owner.id))).toBe('409 last_admin')
  const admin = await stack.member({ tenant: 'Admin' })
  expect(outcomeOf(await suspend(stack.owner, admin.id))).toBe('200')
  expect(outcomeOf(await suspend(stack.owner, stack.owner.id))).toBe('409 last_admin')
  expect(outcomeOf(await stack.owner.patch(`${stack.path}/members/${stack.owner.id}`, { role: 'Member' }))).toBe(
    '409 last_admin',
  )
  expect(outcomeOf(await stack.owner.delete(`${stack.path}/members/${admin.id}`))).toBe('200')
})

test('an Admin cannot become the owner of a project by suspending its owner [not_permitted]', async ({ stack }) => {
  const admin = await stack.member({ tenant: 'Admin' })
  expect(outcomeOf(await admin.post(`${stack.path}/members/${stack.owner.id}/suspend`))).toBe('200')
  const grant = { user: admin.id, role: 'Project Owner' }
  expect(outcomeOf(await admin.post(`${stack.projectPath}/grants`, grant))).toBe('403 not_permitted')
})
