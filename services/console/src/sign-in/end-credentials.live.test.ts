import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import {
  type Answer,
  answerOf,
  appCode,
  type Caller,
  callerOf,
  outcomeOf,
  sessionSetBy,
  signInBy,
  uniqueAddress,
  untilBlocked,
} from '../console.fixture.ts'
import { callsTest } from '../money/calls.fixture.ts'

const PASSWORD = 'correct horse battery'
const CHANGED = 'another passphrase'

const test = callsTest
  .extend('post', { scope: 'file' }, ({ console }) => {
    return async (path: string, body: object, Cookie = ''): Promise<Answer> => {
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress(), Cookie }
      return answerOf(await fetch(console.url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
    }
  })
  /** A user who is signed in by everything there is. */
  .extend('user', async ({ signIn, console, fixture, post }) => {
    const first = await signIn()
    expect(outcomeOf(await first.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
    const of = (secret: string) => callerOf(console.url, first.id, secret)
    const opened = of((await fixture.session(first.id)).secret)
    const app = (await opened.post('/api/v2/me/second-factor', { password: PASSWORD })).body.secret as string
    const confirmed = await opened.post('/api/v2/me/second-factor/confirm', { code: appCode(app, -1) })
    expect(outcomeOf(confirmed)).toBe('200')
    const session = of(sessionSetBy(confirmed))
    const made = await session.post('/api/v2/me/tokens', { name: 'made', scopes: ['account:write'] })
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const redeem = (code: string) => post('/api/v2/session/tokens', { code, verifier })
    const code = async () =>
      (await session.post('/api/v2/me/sign-in-codes', { name: 'CLI', challenge })).body.code as string
    const byCode = of((await redeem(await code())).body.secret)
    const open = await code()
    const email = `${first.id}@example.test`
    /** Signs in by password, and returns how to complete that with a code. */
    const begin = async () => {
      const begun = await signInBy(console.url, email, PASSWORD)
      expect(begun.status).toBe(202)
      const Cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!
      return (steps: number) => post('/api/v2/session/second-factor', { code: appCode(app, steps) }, Cookie)
    }
    return {
      id: first.id,
      email,
      session,
      tokens: [first, of(made.body.secret), byCode],
      otherSession: of((await fixture.session(first.id)).secret),
      redeemOpenCode: () => redeem(open),
      begin,
      reset: (link: string) =>
        post('/api/v2/session/reset/complete', { secret: link.split('#')[1], password: CHANGED }),
    }
  })
  /** An Admin with a password, a session and a token, who creates a key, a service token and an invitation with each. */
  .extend('admin', async ({ console, fixture, stack, tenant, calls, signIn, post }) => {
    const { id } = stack.owner
    const of = (secret: string) => callerOf(console.url, id, secret)
    const { secret: first } = await fixture.session(id)
    expect(outcomeOf(await of(first).put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
    const session = of((await fixture.session(id)).secret)
    const token = await fixture.token(id)
    const make = async (by: Caller, email: string) => {
      const key = (await by.post(`${stack.path}/keys`, { project: stack.project })).body
      const service = (await by.post(`${stack.path}/tokens`, { name: 'CI', permissions: ['audit.read'] })).body
      const { invitation, link } = (await by.post(`${stack.path}/invitations`, { email })).body
      return { key, service, invitation, link }
    }
    const admit = async (secret: string) => {
      const { outcome } = await calls.admit(secret, tenant.model)
      return outcome.kind === 'refused' ? outcome.code : outcome.kind
    }
    return {
      id,
      email: `${id}@example.test`,
      session,
      token,
      byToken: of(token.secret),
      operator: await signIn({ platformOperator: true, by: 'session' }),
      post,
      made: await make(of(token.secret), 'by-token@example.test'),
      others: await make(session, 'by-session@example.test'),
      admit,
      /** What the next use of each gets. */
      uses: async ({ key, service, link }: Awaited<ReturnType<typeof make>>) => [
        await admit(key.secret),
        outcomeOf(await of(service.secret).get(`${stack.path}/audit`)),
        outcomeOf(await post('/api/v2/invitations/read', { secret: link.split('#')[1] })),
      ],
    }
  })

const WORKS = ['admitted', '200', '200']
const ENDED = ['key_revoked', '401 token_invalid', '400 invalid_request']

const ways: [string, (user: { id: string; session: Caller; operator: Caller }) => Promise<Answer>, number][] = [
  [
    'a password change',
    ({ session }) => session.put('/api/v2/me/password', { password: CHANGED, current: PASSWORD }),
    204,
  ],
  ['sign out everywhere', ({ session }) => session.delete('/api/v2/me/sessions'), 204],
  ['disabling the user', ({ id, operator }) => operator.post(`/api/v2/users/${id}/disable`), 200],
]

test.for(ways)(
  '%s ends every session, token, code, half-finished sign-in and reset link at once [session_missing] [token_invalid] [second_factor_failed]',
  async ([, end, status], { user, signIn }) => {
    const operator = await signIn({ platformOperator: true, by: 'session' })
    const { link } = (await operator.post('/api/v2/password-resets', { email: user.email })).body as { link: string }
    const [complete, completeLater] = [await user.begin(), await user.begin()]
    expect(outcomeOf(await complete(0))).toBe('201')
    for (const caller of [user.session, user.otherSession, ...user.tokens])
      expect(outcomeOf(await caller.get('/api/v2/me'))).toBe('200')
    expect((await end({ ...user, operator })).status).toBe(status)
    for (const caller of [user.session, user.otherSession])
      expect(outcomeOf(await caller.get('/api/v2/me'))).toBe('401 session_missing')
    for (const caller of user.tokens) expect(outcomeOf(await caller.get('/api/v2/me'))).toBe('401 token_invalid')
    expect(outcomeOf(await user.redeemOpenCode())).toBe('400 invalid_request')
    if (status === 200) await operator.post(`/api/v2/users/${user.id}/enable`) // what ended stays ended
    expect(outcomeOf(await completeLater(1))).toBe('401 second_factor_failed')
    expect(outcomeOf(await user.reset(link))).toBe('400 invalid_request')
  },
)

test.for(ways)(
  '%s while a second step waits for the same user ends its session, without a deadlock',
  async ([, end, status], { user, signIn, fixture }) => {
    const operator = await signIn({ platformOperator: true, by: 'session' })
    const complete = await user.begin()
    await fixture.run('BEGIN')
    await fixture.run('SELECT FROM control.users WHERE id = $1 FOR NO KEY UPDATE', [user.id])
    const ending = end({ ...user, operator })
    await untilBlocked(fixture)
    const completing = complete(0)
    await untilBlocked(fixture, 2)
    await fixture.run('COMMIT')
    expect((await ending).status).toBe(status)
    expect((await completing).status).toBeLessThan(500)
    const { rows } = await fixture.run('SELECT FROM control.sessions WHERE user_id = $1', [user.id])
    expect(rows).toHaveLength(0)
  },
)

test('a password reset that meets signing out everywhere is answered, without a deadlock', async ({
  user,
  signIn,
  fixture,
}) => {
  const operator = await signIn({ platformOperator: true, by: 'session' })
  const { link } = (await operator.post('/api/v2/password-resets', { email: user.email })).body as { link: string }
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM control.users WHERE id = $1 FOR NO KEY UPDATE', [user.id])
  const ending = user.session.delete('/api/v2/me/sessions')
  await untilBlocked(fixture)
  const resetting = user.reset(link)
  await untilBlocked(fixture, 2)
  await fixture.run('COMMIT')
  expect(outcomeOf(await ending)).toBe('204')
  expect(outcomeOf(await resetting)).toBe('400 invalid_request')
})

interface Admin {
  id: string
  email: string
  session: Caller
  byToken: Caller
  token: { id: string; secret: string }
  operator: Caller
  post: (path: string, body: object) => Promise<Answer>
}

const endsOfToken: [string, (admin: Admin) => Promise<Answer>][] = [
  ['deletes it', ({ session, token }) => session.delete(`/api/v2/me/tokens/${token.id}`)],
  ['lets it delete itself', ({ byToken, token }) => byToken.delete(`/api/v2/me/tokens/${token.id}`)],
  ['signs out everywhere', ({ session }) => session.delete('/api/v2/me/sessions')],
  [
    'changes the password',
    ({ session }) => session.put('/api/v2/me/password', { password: CHANGED, current: PASSWORD }),
  ],
  [
    'resets the password',
    async ({ operator, email, post }) => {
      const { link } = (await operator.post('/api/v2/password-resets', { email })).body as { link: string }
      return post('/api/v2/session/reset/complete', { secret: link.split('#')[1], password: CHANGED })
    },
  ],
  [
    'is disabled and enabled again',
    async ({ operator, id }) => {
      await operator.post(`/api/v2/users/${id}/disable`)
      return operator.post(`/api/v2/users/${id}/enable`)
    },
  ],
  ['loses the second factor', ({ operator, id }) => operator.delete(`/api/v2/users/${id}/second-factor`)],
  ['finds it reported as leaked', ({ post, token }) => post('/api/v2/leaked-secrets', { token: token.secret })],
]

test.for(endsOfToken)(
  'a key, a service token and an invitation of a personal token end with it when its user %s [key_revoked] [token_invalid]',
  async ([, end], { admin, fixture }) => {
    await fixture.run(`INSERT INTO control.second_factors (user_id, secret) VALUES ($1, '')`, [admin.id])
    expect([await admin.uses(admin.made), await admin.uses(admin.others)]).toEqual([WORKS, WORKS])
    expect(outcomeOf(await end(admin))).toMatch(/^20[04]$/)
    expect(outcomeOf(await admin.byToken.get('/api/v2/me'))).toBe('401 token_invalid')
    expect([await admin.uses(admin.made), await admin.uses(admin.others)]).toEqual([ENDED, WORKS])
  },
)

test('the audit names what ended with a personal token, the token, and who ended it', async ({
  admin,
  fixture,
  stack,
}) => {
  const { key, service, invitation } = admin.made
  await admin.operator.post(`/api/v2/users/${admin.id}/disable`)
  const { rows } = await fixture.run(
    `SELECT action, subject, user_id FROM control.audit
      WHERE tenant = $1 AND details->>'madeWith' = $2 ORDER BY action`,
    [stack.tenant, admin.token.id],
  )
  const entry = (action: string, subject: string) => ({ action, subject, user_id: admin.operator.id })
  expect(rows).toEqual([
    entry('access-token.delete', service.token.id),
    entry('invitation.revoke', invitation.id),
    entry('key.revoke', key.key.id),
  ])
})

test('a key that has expired or is past its grace period, and may have executions that run on, is revoked with the token that made it', async ({
  admin,
  fixture,
  stack,
}) => {
  const create = async () => (await admin.byToken.post(`${stack.path}/keys`, { project: stack.project })).body.key.id
  const [expired, rotated] = [await create(), await create()]
  await admin.session.post(`${stack.path}/keys/${rotated}/rotate`, { graceSeconds: 60 })
  await fixture.run('UPDATE control.keys SET grace_until = now() WHERE id = $1', [rotated])
  await fixture.run('ALTER TABLE control.keys DISABLE TRIGGER keep_key_binding')
  await fixture.run('UPDATE control.keys SET expires_at = now() WHERE id = $1', [expired])
  await fixture.run('ALTER TABLE control.keys ENABLE TRIGGER keep_key_binding')
  await admin.session.delete(`/api/v2/me/tokens/${admin.token.id}`)
  const { rows } = await fixture.run('SELECT FROM control.keys WHERE id = ANY ($1) AND revoked_at IS NOT NULL', [
    [expired, rotated],
  ])
  expect(rows).toHaveLength(2)
})

test('the token of the first password keeps what it made', async ({ console, fixture, stack }) => {
  const token = callerOf(console.url, stack.owner.id, (await fixture.token(stack.owner.id)).secret)
  const { body } = await token.post(`${stack.path}/keys`, { project: stack.project })
  expect(outcomeOf(await token.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
  expect((await token.get(`${stack.path}/keys/${body.key.id}`)).body.state).toBe('Active')
})

test('a replacement ends with the token that rotated the key, and not if a session did; a key that rotates itself stays with its token', async ({
  admin,
  console,
  stack,
}) => {
  const rotate = async (by: Caller, { key }: { key: { id: string } }) =>
    (await by.post(`${stack.path}/keys/${key.id}/rotate`)).body
  const create = async () => (await admin.byToken.post(`${stack.path}/keys`, { project: stack.project })).body
  const another = await create()
  const bySession = await rotate(admin.session, admin.made.key)
  const byToken = await rotate(admin.byToken, admin.others.key)
  const byItself = await rotate(callerOf(console.url, '', another.secret), another)
  await admin.session.delete(`/api/v2/me/tokens/${admin.token.id}`)
  const outcomes = await Promise.all([bySession, byToken, byItself].map(({ secret }) => admin.admit(secret)))
  expect(outcomes).toEqual(['admitted', 'key_revoked', 'key_revoked'])
})

test('an invitation ends with the token that sent it last, and not if a session did', async ({ admin, stack }) => {
  const again = async (by: Caller, { invitation }: { invitation: { id: string } }) =>
    (await by.post(`${stack.path}/invitations/${invitation.id}/resend`)).body
  const bySession = await again(admin.session, admin.made)
  const byToken = await again(admin.byToken, admin.others)
  await admin.session.delete(`/api/v2/me/tokens/${admin.token.id}`)
  const [, , keeps] = await admin.uses({ ...admin.others, ...bySession })
  const [, , ends] = await admin.uses({ ...admin.others, ...byToken })
  expect([keeps, ends]).toEqual(['200', '400 invalid_request'])
})

const creations: [string, (token: Caller, path: string, project: string, old: string) => Promise<Answer>][] = [
  ['creates a key', (token, path, project) => token.post(`${path}/keys`, { project })],
  ['rotates a key', (token, path, _project, old) => token.post(`${path}/keys/${old}/rotate`)],
  [
    'creates a service token',
    (token, path) => token.post(`${path}/tokens`, { name: 'CI', permissions: ['audit.read'] }),
  ],
  ['invites', (token, path) => token.post(`${path}/invitations`, { email: 'late@example.test' })],
]

test.for(creations)(
  'a personal token that %s while it is deleted makes nothing [token_invalid]',
  async ([, create], { admin, fixture, stack }) => {
    await fixture.run('BEGIN')
    await fixture.run('DELETE FROM control.user_tokens WHERE id = $1', [admin.token.id])
    const creating = create(admin.byToken, stack.path, stack.project, admin.others.key.key.id)
    await untilBlocked(fixture)
    await fixture.run('COMMIT')
    expect(outcomeOf(await creating)).toBe('401 token_invalid')
  },
)

test('a key that rotates itself while the token that made it is deleted gets no replacement [key_not_active]', async ({
  admin,
  console,
  fixture,
  stack,
}) => {
  const { key, secret } = admin.made.key
  await fixture.run('BEGIN')
  await fixture.run('DELETE FROM control.user_tokens WHERE id = $1', [admin.token.id])
  const rotating = callerOf(console.url, '', secret).post(`${stack.path}/keys/${key.id}/rotate`)
  await untilBlocked(fixture)
  await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [key.id])
  await fixture.run('COMMIT')
  expect(outcomeOf(await rotating)).toBe('409 key_not_active')
})

test('a session works in its cookie alone, and a token in the Authorization header alone [token_invalid] [session_missing]', async ({
  console,
  user,
  stack,
}) => {
  const service = await stack.fixture.accessToken({ tenant: stack.tenant, project: null, permissions: ['users.read'] })
  const asToken = await fetch(`${console.url}/api/v2/me`, {
    headers: { Authorization: `Bearer ${user.session.token}` },
  })
  expect(outcomeOf(await answerOf(asToken))).toBe('401 token_invalid')
  for (const token of [user.tokens[0]!.token, service.secret]) {
    const asSession = await fetch(`${console.url}/api/v2/me`, { headers: { Cookie: `svc_session=${token}` } })
    expect(outcomeOf(await answerOf(asSession))).toBe('401 session_missing')
  }
})

test('a disabled user cannot sign in until enabled, and learns nothing of it [sign_in_failed]', async ({
  console,
  user,
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  expect((await operator.post(`/api/v2/users/${user.id}/disable`)).body).toMatchObject({
    id: user.id,
    disabledAt: expect.any(String) as string,
  })
  const right = await answerOf(await signInBy(console.url, user.email, PASSWORD))
  const wrong = await answerOf(await signInBy(console.url, user.email, 'not the password'))
  expect([outcomeOf(right), right.body]).toEqual(['401 sign_in_failed', wrong.body])
  expect((await operator.post(`/api/v2/users/${user.id}/enable`)).body.disabledAt).toBeNull()
  expect((await signInBy(console.url, user.email, PASSWORD)).status).toBe(202) // a code is needed
  expect(outcomeOf(await user.tokens[0]!.get('/api/v2/me'))).toBe('401 token_invalid') // ended for good
})

test('a token that a session creates while the user signs out everywhere does not outlive it', async ({
  fixture,
  user,
}) => {
  // The session is authenticated and its token waits for the row when the sign-out commits.
  await fixture.run('BEGIN')
  await fixture.run('DELETE FROM control.sessions WHERE user_id = $1', [user.id])
  const making = user.session.post('/api/v2/me/tokens', { name: 'late' })
  await untilBlocked(fixture)
  await fixture.run('DELETE FROM control.user_tokens WHERE user_id = $1', [user.id])
  await fixture.run('COMMIT')
  expect(outcomeOf(await making)).toBe('401 session_missing')
  const { rows } = await fixture.run('SELECT FROM control.user_tokens WHERE user_id = $1', [user.id])
  expect(rows).toHaveLength(0)
})

test('sessions are listed with where they are from, and end one by one [not_found]', async ({ user, signIn }) => {
  const listed = (await user.session.get('/api/v2/me/sessions')).body.data as { id: string; current: boolean }[]
  expect(listed).toHaveLength(2)
  expect(listed.filter(({ current }) => current)).toHaveLength(1)
  expect(listed[0]).toMatchObject({ method: 'password', secondFactor: false, address: '127.0.0.1', device: 'a test' })
  const other = listed.find(({ current }) => !current)!
  const stranger = await signIn()
  expect(outcomeOf(await stranger.delete(`/api/v2/me/sessions/${other.id}`))).toBe('404 not_found')
  expect(outcomeOf(await user.session.delete(`/api/v2/me/sessions/${other.id}`))).toBe('204')
  expect(outcomeOf(await user.otherSession.get('/api/v2/me'))).toBe('401 session_missing')
  expect(outcomeOf(await user.session.get('/api/v2/me'))).toBe('200')
})

test('a session ends when it is not used for twelve hours, and after thirty days [session_missing]', async ({
  fixture,
  user,
}) => {
  const age = (unused: string, left: string) =>
    fixture.run(
      `UPDATE control.sessions SET last_used_at = now() - $2::interval, expires_at = now() + $3::interval WHERE user_id = $1`,
      [user.id, unused, left],
    )
  const used = async () => {
    const { rows } = await fixture.run(
      `SELECT min(now() - last_used_at) < interval '1 minute' AS used FROM control.sessions WHERE user_id = $1`,
      [user.id],
    )
    return (rows as { used: boolean }[])[0]!.used
  }
  await age('11 hours 59 minutes', '1 minute')
  expect(outcomeOf(await user.session.get('/api/v2/me'))).toBe('200')
  expect(await used()).toBe(true)
  // The column holds rounded milliseconds, the clock of the console whole ones: a request follows in less than one.
  await age('12 hours 1 second', '1 day')
  expect(outcomeOf(await user.session.get('/api/v2/me'))).toBe('401 session_missing')
  await age('1 minute', '-1 second')
  expect(outcomeOf(await user.session.get('/api/v2/me'))).toBe('401 session_missing')
})
