import { connect } from 'node:net'
import { once } from 'node:events'
import { expect } from 'vitest'
import { nameOf } from '@gateway/testbed/fixture'
import {
  answerOf,
  callerOf,
  consoleTest as test,
  outcomeOf,
  signInBy,
  uniqueAddress,
  untilBlocked,
} from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'

test('rejects a request without a token [session_missing]', async ({ console }) => {
  const answer = await answerOf(await fetch(`${console.url}/api/v2/me`))
  expect(outcomeOf(answer)).toBe('401 session_missing')
  expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
  expect(answer.headers.get('X-Request-Id')).toMatch(/^req_/)
})

test('responds identically to malformed, unknown and expired tokens, and to keys [token_invalid]', async ({
  console,
  signIn,
  fixture,
}) => {
  const expired = await signIn()
  await fixture.run(`UPDATE control.user_tokens SET expires_at = now() - interval '1 ms' WHERE user_id = $1`, [
    expired.id,
  ])
  const known = await signIn()
  const unknown = known.token.slice(0, -7) + (known.token.at(-7) === 'x' ? 'y' : 'x') + known.token.slice(-6)
  const bodies = await Promise.all(
    ['svu_short', unknown, expired.token, `svc_${known.token.slice(4)}`].map(async (token) => {
      const answer = await callerOf(console.url, '', token).get('/api/v2/me')
      expect(outcomeOf(answer)).toBe('401 token_invalid')
      return JSON.stringify(answer.body)
    }),
  )
  expect(new Set(bodies).size).toBe(1)
})

test('rejects a request with two Authorization headers [duplicate_header]', async ({ console }) => {
  const { hostname, port } = new URL(console.url)
  const socket = connect(Number(port), hostname)
  socket.end(
    'GET /api/v2/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
  )
  let text = ''
  socket.on('data', (part: Buffer) => (text += part.toString()))
  await once(socket, 'close')
  expect(text).toContain('HTTP/1.1 400')
  expect(text).toContain('"duplicate_header"')
})

test('/me returns the organizations, teams and projects of the user with their roles', async ({ stack }) => {
  const { body } = await stack.owner.get('/api/v2/me')
  expect(body).toMatchObject({ id: stack.owner.id, platformOperator: false })
  expect(body.tenants).toEqual([
    {
      id: stack.tenant,
      name: nameOf(stack.tenant),
      role: 'Admin',
      needsSecondFactor: false,
      teams: [{ id: stack.team, name: nameOf(stack.team), role: 'Team Owner' }],
      projects: [{ id: stack.project, name: nameOf(stack.project), role: 'Project Owner' }],
    },
  ])
})

test('a user can sign in with their password, and sign out', async ({ console, signIn }) => {
  const user = await signIn()
  expect(outcomeOf(await user.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
  const email = `${user.id.toUpperCase()}@Example.test`
  const url = `${console.url}/api/v2/session`
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }

  const wrong = await answerOf(
    await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password: 'no' }) }),
  )
  expect(outcomeOf(wrong)).toBe('401 sign_in_failed')
  const unknown = { email: 'unknown@example.test', password: PASSWORD }
  const anonymous = await answerOf(await fetch(url, { method: 'POST', headers, body: JSON.stringify(unknown) }))
  expect(anonymous.body).toEqual(wrong.body)

  const session = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password: PASSWORD }) })
  expect(session.status).toBe(201)
  expect(await session.json()).toMatchObject({ id: user.id, email: email.toLowerCase() })
  const [cookie] = session.headers.getSetCookie()
  expect(cookie).toMatch(/^svc_session=svs_\w+; Max-Age=2592000; Path=\/; Expires=.*; HttpOnly; SameSite=Strict$/)
  const Cookie = cookie!.split(';')[0]!

  const me = () => fetch(`${console.url}/api/v2/me`, { headers: { Cookie } })
  expect((await me()).status).toBe(200)
  expect((await fetch(url, { method: 'DELETE', headers: { Cookie } })).status).toBe(204)
  expect((await me()).status).toBe(401)
})

test('a personal token acts as its user, shows its secret once and stops working when deleted', async ({
  console,
  signIn,
}) => {
  const user = await signIn({ by: 'session' })
  const made = await user.post('/api/v2/me/tokens', { name: 'script', expiresInDays: 7 })
  expect(outcomeOf(made)).toBe('201')
  expect(made.headers.get('Cache-Control')).toBe('no-store')
  const byToken = callerOf(console.url, user.id, made.body.secret)
  expect((await byToken.get('/api/v2/me')).body.id).toBe(user.id)

  const listed = await user.get('/api/v2/me/tokens')
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(made.body.token.id)
  expect(JSON.stringify(listed.body)).not.toContain(made.body.secret)

  expect(outcomeOf(await user.delete(`/api/v2/me/tokens/${made.body.token.id}`))).toBe('204')
  expect(outcomeOf(await byToken.get('/api/v2/me'))).toBe('401 token_invalid')
  expect(outcomeOf(await user.delete(`/api/v2/me/tokens/${made.body.token.id}`))).toBe('404 not_found')
})

test("a user cannot delete another user's token [not_found]", async ({ signIn }) => {
  const [one, other] = [await signIn({ by: 'session' }), await signIn()]
  const made = await one.post('/api/v2/me/tokens', { name: 'mine' })
  expect(outcomeOf(await other.delete(`/api/v2/me/tokens/${made.body.token.id}`))).toBe('404 not_found')
})

test('changing the password requires the current one, and ends all sessions and tokens [sign_in_failed]', async ({
  console,
  signIn,
}) => {
  const user = await signIn()
  const email = `${user.id}@example.test`
  expect(outcomeOf(await user.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
  const sessions = await Promise.all([1, 2].map(() => sessionBy(console.url, email, PASSWORD)))
  const me = (Cookie: string) => fetch(`${console.url}/api/v2/me`, { headers: { Cookie } })
  expect(await Promise.all(sessions.map(async (cookie) => (await me(cookie)).status))).toEqual([200, 200])

  const fresh = { password: 'another passphrase' }
  expect(outcomeOf(await user.put('/api/v2/me/password', fresh))).toBe('401 sign_in_failed')
  expect(outcomeOf(await user.put('/api/v2/me/password', { ...fresh, current: 'not it at all' }))).toBe(
    '401 sign_in_failed',
  )
  expect(outcomeOf(await user.put('/api/v2/me/password', { ...fresh, current: PASSWORD }))).toBe('204')
  expect(await Promise.all(sessions.map(async (cookie) => (await me(cookie)).status))).toEqual([401, 401])
  expect(outcomeOf(await user.get('/api/v2/me'))).toBe('401 token_invalid')
})

test.for([
  ['too-short', '400 invalid_request'],
  ['12 letters..', '204'],
  ['x'.repeat(256), '204'],
  ['x'.repeat(257), '400 invalid_request'],
])('accepts a password only with 12 to 256 characters: %s → %s', async ([password, outcome], { signIn }) => {
  const user = await signIn()
  expect(outcomeOf(await user.put('/api/v2/me/password', { password }))).toBe(outcome)
})

test('a sign-in with the old password during a password change gets no session', async ({
  console,
  signIn,
  fixture,
}) => {
  const user = await signIn()
  const email = `${user.id}@example.test`
  await user.put('/api/v2/me/password', { password: PASSWORD })
  // The sign-in has already checked the old password and waits for the row when this commits.
  await fixture.run('BEGIN')
  await fixture.run(`UPDATE control.users SET password_hash = 'changed' WHERE id = $1`, [user.id])
  const signingIn = signInBy(console.url, email, PASSWORD)
  await untilBlocked(fixture)
  await fixture.run('COMMIT')
  expect(outcomeOf(await answerOf(await signingIn))).toBe('401 sign_in_failed')
  const { rows } = await fixture.run('SELECT FROM control.sessions WHERE user_id = $1', [user.id])
  expect(rows).toHaveLength(0)
})

async function sessionBy(url: string, email: string, password: string): Promise<string> {
  const answer = await signInBy(url, email, password)
  expect(answer.status).toBe(201)
  return answer.headers.getSetCookie()[0]!.split(';')[0]!
}
