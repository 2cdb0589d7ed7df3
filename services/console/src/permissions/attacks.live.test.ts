import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Fixture } from '@gateway/testbed/fixture'
import { expect } from 'vitest'
import {
  callerOf,
  consoleTest as test,
  credentialOf,
  outcomeOf,
  untilBlocked,
  type Caller,
} from '../console.fixture.ts'

// Attempts to gain more access than was granted.

test.for([
  ['a Project Consumer', { team: 'Team Owner', project: 'Project Consumer' }],
  ['a Project Viewer', { project: 'Project Viewer' }],
  ['a Team Owner', { team: 'Team Owner' }],
] as const)('%s cannot grant roles on a project [not_permitted]', async ([, roles], { stack }) => {
  const me = await stack.member(roles)
  const grants = `${stack.projectPath}/grants`
  const tries = await Promise.all([
    me.post(grants, { user: me.id, role: 'Project Owner' }),
    me.post(grants, { user: stack.owner.id, role: 'Project Viewer' }),
    me.delete(`${grants}/${stack.owner.id}`),
  ])
  expect(tries.map(outcomeOf)).toEqual(Array(3).fill('403 not_permitted'))
})

test('an Admin cannot change the grants of a project that has an owner [not_permitted]', async ({ stack }) => {
  const admin = await stack.member({ tenant: 'Admin', team: 'Team Owner' })
  const member = await stack.member({ project: 'Project Viewer' })
  const grants = `${stack.projectPath}/grants`
  for (const user of [admin.id, member.id])
    for (const role of ['Project Owner', 'Project Consumer', 'Project Viewer'])
      expect(outcomeOf(await admin.post(grants, { user, role }))).toBe('403 not_permitted')
  for (const user of [member.id, stack.owner.id])
    expect(outcomeOf(await admin.delete(`${grants}/${user}`))).toBe('403 not_permitted')
})

test('an Admin can appoint one owner for a project without one, which is audited [not_permitted]', async ({
  stack,
  fixture,
}) => {
  const admin = await stack.member({ tenant: 'Admin' })
  const heir = await stack.member({ project: 'Project Viewer' })
  const grants = `${stack.projectPath}/grants`
  // The grant of a user who has left the organization does not count.
  await fixture.run('DELETE FROM control.memberships WHERE user_id = $1', [stack.owner.id])
  for (const role of ['Project Consumer', 'Project Viewer'])
    expect(outcomeOf(await admin.post(grants, { user: heir.id, role }))).toBe('403 not_permitted')
  expect(outcomeOf(await admin.delete(`${grants}/${heir.id}`))).toBe('403 not_permitted')
  const role = { user: heir.id, role: 'Project Owner' }
  expect(outcomeOf(await admin.post(grants, role))).toBe('200')
  expect(outcomeOf(await admin.post(grants, { ...role, user: admin.id }))).toBe('403 not_permitted')
  expect(outcomeOf(await heir.post(grants, { user: admin.id, role: 'Project Viewer' }))).toBe('201')
  const { body } = await admin.get(`${stack.path}/audit?limit=2`)
  const details = { ...role, before: 'Project Viewer' }
  expect(body.data[1]).toMatchObject({ action: 'grant.set', user: admin.id, subject: stack.project, details })
})

test.for([
  ['an Admin', { tenant: 'Admin' }],
  ['an Admin in the team', { tenant: 'Admin', team: 'Team Owner' }],
  ['a Project Owner outside the team', { project: 'Project Owner' }],
] as const)(
  "%s cannot obtain a secret by rotating another user's key, but can revoke it [key_issuer_denied]",
  async ([, roles], { stack }) => {
    const me = await stack.member(roles)
    const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
    expect(outcomeOf(await me.post(`${stack.path}/keys`, { project: stack.project }))).toBe('403 key_issuer_denied')
    const rotated = await me.post(`${stack.path}/keys/${key.id}/rotate`)
    expect([outcomeOf(rotated), rotated.body.secret]).toEqual(['403 key_issuer_denied', undefined])
    expect((await stack.owner.get(`${stack.path}/keys/${key.id}`)).body.state).toBe('Active')
    expect((await me.post(`${stack.path}/keys/${key.id}/revoke`)).body.state).toBe('Revoked')
  },
)

test("a Project Owner in the team can rotate a colleague's key", async ({ stack }) => {
  const colleague = await stack.member({ team: 'Team Member', project: 'Project Owner' })
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const rotated = await colleague.post(`${stack.path}/keys/${key.id}/rotate`)
  expect([outcomeOf(rotated), rotated.body.key.createdBy]).toEqual(['201', stack.owner.id])
})

test('every write rejects unexpected fields in its body and names them [invalid_request]', async ({
  stack,
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const member = await stack.member()
  const { body: made } = await stack.owner.post(`${stack.path}/keys`, { project: stack.project })
  const writes: [Caller, 'post' | 'put' | 'patch', string, object][] = [
    [member, 'put', '/api/v2/me/password', { password: 'long enough for it' }],
    [await signIn({ by: 'session' }), 'post', '/api/v2/me/tokens', { name: 'mine' }],
    [operator, 'post', '/api/v2/tenants', { name: 'New' }],
    [stack.owner, 'patch', `${stack.path}/members/${member.id}`, { role: 'Member' }],
    [stack.owner, 'post', `${stack.path}/invitations`, { email: 'new.user@example.test' }],
    [
      await signIn({ platformOperator: true, by: 'session' }),
      'post',
      '/api/v2/password-resets',
      { email: 'new.user@example.test' },
    ],
    [stack.owner, 'post', `${stack.path}/teams`, { name: 'New' }],
    [stack.owner, 'post', `${stack.path}/teams/${stack.team}/members`, { user: member.id }],
    [stack.owner, 'post', `${stack.path}/projects`, { name: 'New' }],
    [stack.owner, 'post', `${stack.projectPath}/grants`, { user: member.id, role: 'Project Viewer' }],
    [stack.owner, 'post', `${stack.path}/keys`, { project: stack.project }],
    [stack.owner, 'post', `${stack.path}/keys/${made.key.id}/rotate`, {}],
    [operator, 'post', `${stack.projectPath}/wallet/fundings`, { fundingId: 'f', micro: 1 }],
    [operator, 'post', `${stack.projectPath}/wallet/corrections`, { correctionId: 'c', micro: 1, reason: 'r' }],
    [operator, 'patch', '/api/v2/products/acme%2Fnone', {}],
  ]
  const extras = [
    'id',
    'tenant',
    'createdBy',
    'platformOperator',
    'passwordHash',
    'vouchedBy',
    'hash',
    'lineage',
    'createdAt',
  ]
  for (const [caller, method, path, body] of writes)
    for (const extra of extras) {
      const answer = await caller[method](path, { ...body, [extra]: extra === 'platformOperator' ? true : 'x' })
      expect([path, outcomeOf(answer), answer.body.error.param]).toEqual([path, '400 invalid_request', extra])
    }
  expect((await member.get('/api/v2/me')).body.platformOperator).toBe(false)
})

test('a user who loses a permission while their request waits can no longer grant roles [not_permitted]', async ({
  stack,
  fixture,
}) => {
  const leaving = await stack.member({ project: 'Project Owner' })
  const accomplice = await stack.member()
  const admin = await stack.member({ tenant: 'Admin' })
  // Both requests are authorized but still wait for the lock when the permissions are removed.
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE', [stack.tenant])
  const grant = leaving.post(`${stack.projectPath}/grants`, { user: accomplice.id, role: 'Project Owner' })
  await untilBlocked(fixture)
  await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [leaving.id])
  await fixture.run('COMMIT')
  expect(outcomeOf(await grant)).toBe('404 not_found')

  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE', [stack.tenant])
  const raise = admin.patch(`${stack.path}/members/${accomplice.id}`, { role: 'Admin' })
  await untilBlocked(fixture)
  await fixture.run(`UPDATE control.memberships SET role = 'Member' WHERE user_id = $1`, [admin.id])
  await fixture.run('COMMIT')
  expect(outcomeOf(await raise)).toBe('403 not_permitted')
  expect((await stack.owner.get(`${stack.projectPath}/grants`)).body.data).toHaveLength(1)
})

test.for(['teams', 'projects'])(
  'an Admin who is removed while their request waits creates none of the %s [not_found]',
  async (path, { stack, fixture }) => {
    const leaving = await stack.member({ tenant: 'Admin', team: 'Team Owner' })
    await fixture.run('BEGIN')
    await fixture.run('SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE', [stack.tenant])
    const creating = leaving.post(`${stack.path}/${path}`, {
      name: 'Late',
      ...(path === 'projects' && { team: stack.team }),
    })
    // Ends too if the request doesn't wait.
    await Promise.race([untilBlocked(fixture), creating])
    await fixture.run('DELETE FROM control.memberships WHERE user_id = $1', [leaving.id])
    await fixture.run('COMMIT')
    expect(outcomeOf(await creating)).toBe('404 not_found')
  },
)

test('a user can be deleted only after their tokens, which then no longer work [token_invalid]', async ({
  console,
  signIn,
  fixture,
}) => {
  const user = await signIn()
  await expect(fixture.run('DELETE FROM control.users WHERE id = $1', [user.id])).rejects.toThrow(/user_tokens/)
  await fixture.run('DELETE FROM control.user_tokens WHERE user_id = $1', [user.id])
  await fixture.run('DELETE FROM control.users WHERE id = $1', [user.id])
  expect(outcomeOf(await callerOf(console.url, user.id, user.token).get('/api/v2/me'))).toBe('401 token_invalid')
})

/** Sends the headers of a request and waits until the console has them. Returns a function that sends the body. */
async function sendHeaders(
  { token }: Caller,
  method: string,
  url: string,
  fields: Record<string, string> = {},
): Promise<(body: object) => Promise<string>> {
  const sending = request(url, { method, headers: { ...credentialOf(token), ...fields, Expect: '100-continue' } })
  const answer = once(sending, 'response') as Promise<[IncomingMessage]>
  sending.flushHeaders()
  await once(sending, 'continue')
  return async (body) => {
    sending.end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
    const [answered] = await answer
    const sent = JSON.parse(await text(answered)) as unknown
    return outcomeOf({ status: answered.statusCode ?? 0, body: sent, headers: new Headers() })
  }
}

test.for([
  ['fund a wallet', 'POST', 'wallet/fundings', { fundingId: 'late', micro: 1 }],
  ['correct a wallet', 'POST', 'wallet/corrections', { correctionId: 'late', micro: 1, reason: 'late' }],
  ['change quotas', 'PATCH', 'quotas', { keys: 1 }],
] as const)(
  'an operator who is disabled before their body arrives cannot %s [token_invalid]',
  async ([, method, path, body], { console, fixture, signIn, stack }) => {
    const [leaving, operator] = [await signIn({ platformOperator: true }), await signIn({ platformOperator: true })]
    const send = await sendHeaders(leaving, method, `${console.url}${stack.projectPath}/${path}`)
    expect(outcomeOf(await operator.post(`/api/v2/users/${leaving.id}/disable`))).toBe('200')
    expect(await send(body)).toBe('401 token_invalid')
    expect(await changesBy(fixture, leaving)).toEqual([])
  },
)

test.for([
  ['create a team', 'POST', '/teams', { name: 'Late' }],
  ['create a project', 'POST', '/projects', { name: 'Late' }],
  ['create a webhook', 'POST', '/projects/{p}/webhooks', { url: 'https://example.com/late' }],
  ['change a project', 'PATCH', '/projects/{p}', { assetRetentionDays: 1 }],
] as const)(
  'an Admin who is removed before their body arrives cannot %s [not_found]',
  async ([, method, path, body], { console, fixture, stack }) => {
    const leaving = await stack.member({ tenant: 'Admin', team: 'Team Owner', project: 'Project Owner' })
    const send = await sendHeaders(leaving, method, console.url + stack.path + path.replace('{p}', stack.project))
    expect(outcomeOf(await stack.owner.delete(`${stack.path}/members/${leaving.id}`))).toBe('200')
    expect(await send(body)).toBe('404 not_found')
    expect(await changesBy(fixture, leaving)).toEqual([])
  },
)

test('a session that ends before the body of its request arrives cannot rotate a key [session_missing]', async ({
  console,
  fixture,
  signIn,
  stack,
}) => {
  const session = await signIn({ id: stack.owner.id, by: 'session' })
  const { key } = (await session.post(`${stack.path}/keys`, { project: stack.project })).body
  const send = await sendHeaders(session, 'POST', `${console.url}${stack.path}/keys/${key.id}/rotate`)
  expect(outcomeOf(await stack.owner.delete('/api/v2/me/sessions'))).toBe('204')
  expect(await send({})).toBe('401 session_missing')
  expect(await changesBy(fixture, session)).not.toContain('key.rotate')
})

test.for([
  ['disabled', '401 token_invalid'],
  ['removed', '404 not_found'],
] as const)(
  'the upload of a user who is %s before it has arrived stores nothing',
  async ([how, refusal], { console, fixture, signIn, stack }) => {
    await fixture.fund(stack.project, 1_000n)
    const leaving = await stack.member({ tenant: 'Member', project: 'Project Owner' })
    const type = { 'Content-Type': 'image/png' }
    const send = await sendHeaders(leaving, 'POST', `${console.url}${stack.projectPath}/assets`, type)
    if (how === 'removed') await stack.owner.delete(`${stack.path}/members/${leaving.id}`)
    else await (await signIn({ platformOperator: true })).post(`/api/v2/users/${leaving.id}/disable`)
    expect(await send(Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1'))).toBe(refusal)
    expect(await changesBy(fixture, leaving)).toEqual([])
    expect((await stack.owner.get(`${stack.projectPath}/assets`)).body).toMatchObject({ data: [] })
  },
)

async function changesBy(fixture: Pick<Fixture, 'run'>, { id }: Caller): Promise<string[]> {
  const { rows } = await fixture.run('SELECT action FROM control.audit WHERE user_id = $1 ORDER BY id', [id])
  return rows.map(({ action }) => action as string)
}
