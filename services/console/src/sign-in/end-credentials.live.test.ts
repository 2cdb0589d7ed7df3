import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import {
  type Answer,
  answerOf,
  appCode,
  type Caller,
  callerOf,
  consoleTest,
  outcomeOf,
  signInBy,
  uniqueAddress,
  untilBlocked,
} from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'
const CHANGED = 'another passphrase'

const test = consoleTest
  /** A user who is signed in by everything there is. */
  .extend('user', async ({ signIn, console, fixture }) => {
    const first = await signIn()
    expect(outcomeOf(await first.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
    const of = (secret: string) => callerOf(console.url, first.id, secret)
    const session = of((await fixture.session(first.id)).secret)
    const app = (await session.post('/api/v2/me/second-factor', { password: PASSWORD })).body.secret as string
    const confirmed = await session.post('/api/v2/me/second-factor/confirm', { code: appCode(app, -1) })
    expect(outcomeOf(confirmed)).toBe('200')
    const post = async (path: string, body: object, Cookie = ''): Promise<Answer> => {
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress(), Cookie }
      return answerOf(await fetch(console.url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
    }
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
  await age('12 hours', '1 day')
  expect(outcomeOf(await user.session.get('/api/v2/me'))).toBe('401 session_missing')
  await age('1 minute', '0 seconds')
  expect(outcomeOf(await user.session.get('/api/v2/me'))).toBe('401 session_missing')
})
