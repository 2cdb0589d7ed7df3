import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { expect } from 'vitest'
import { startProgram } from '@gateway/testbed/test-program'
import { answerOf, callerOf, consoleTest as test, said, untilSomebodyWaits } from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'

test('without a token nobody is signed in [session_missing]', async ({ console }) => {
  const answer = await answerOf(await fetch(`${console.url}/api/v2/me`))
  expect(said(answer)).toBe('401 session_missing')
  expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
  expect(answer.headers.get('X-Request-Id')).toMatch(/^req_/)
})

test('malformed, unknown, expired tokens and keys answer alike [token_invalid]', async ({ console, signIn, world }) => {
  const expired = await signIn()
  await world.run(`UPDATE control.person_tokens SET expires_at = now() WHERE person = $1`, [expired.id])
  const known = await signIn()
  const unknown = known.token.slice(0, -7) + (known.token.at(-7) === 'x' ? 'y' : 'x') + known.token.slice(-6)
  const bodies = await Promise.all(
    ['svu_short', unknown, expired.token, `svc_${known.token.slice(4)}`].map(async (token) => {
      const answer = await callerOf(console.url, '', token).get('/api/v2/me')
      expect(said(answer)).toBe('401 token_invalid')
      return JSON.stringify(answer.body)
    }),
  )
  expect(new Set(bodies).size).toBe(1)
})

test('two Authorization headers are refused [duplicate_header]', async ({ console }) => {
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

test('me answers what I belong to and with which roles', async ({ house }) => {
  const { body } = await house.owner.get('/api/v2/me')
  expect(body).toMatchObject({ id: house.owner.id, platformOperator: false })
  expect(body.tenants).toEqual([
    {
      id: house.tenant,
      name: house.tenant,
      role: 'Admin',
      teams: [{ id: house.team, name: house.team, role: 'Team Owner' }],
      projects: [{ id: house.project, name: house.project, role: 'Project Owner' }],
    },
  ])
})

test('a new member signs in with the password it was given, and out again', async ({ console, house }) => {
  const email = `New.Person.${house.tenant}@Example.test`
  const member = await house.owner.post(`${house.path}/members`, { email, name: 'New', password: PASSWORD })
  expect(said(member)).toBe('201')
  const url = `${console.url}/api/v2/session`
  const headers = { 'Content-Type': 'application/json' }

  const wrong = await answerOf(
    await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password: 'no' }) }),
  )
  expect(said(wrong)).toBe('401 sign_in_failed')
  const unknown = { email: 'nobody@example.test', password: PASSWORD }
  const nobody = await answerOf(await fetch(url, { method: 'POST', headers, body: JSON.stringify(unknown) }))
  expect(nobody.body).toEqual(wrong.body)

  const session = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password: PASSWORD }) })
  expect(session.status).toBe(201)
  expect(await session.json()).toMatchObject({ id: member.body.id, email: email.toLowerCase() })
  const [cookie] = session.headers.getSetCookie()
  expect(cookie).toMatch(/^svc_session=svu_\w+; Max-Age=43200; Path=\/; Expires=.*; HttpOnly; SameSite=Strict$/)
  const Cookie = cookie!.split(';')[0]!

  const me = () => fetch(`${console.url}/api/v2/me`, { headers: { Cookie } })
  expect((await me()).status).toBe(200)
  expect((await fetch(url, { method: 'DELETE', headers: { Cookie } })).status).toBe(204)
  expect((await me()).status).toBe(401)
})

test('guessing a password is slowed down, and the right one waits too [rate_limited]', async ({ console, house }) => {
  const email = `guessed.${house.tenant}@example.test`
  await house.owner.post(`${house.path}/members`, { email, password: PASSWORD })
  const signIn = async (password: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.9' }
    const body = JSON.stringify({ email, password })
    return answerOf(await fetch(`${console.url}/api/v2/session`, { method: 'POST', headers, body }))
  }
  for (let n = 0; n < 5; n++) expect(said(await signIn('a guess'))).toBe('401 sign_in_failed')
  const answer = await signIn(PASSWORD)
  expect(said(answer)).toBe('429 rate_limited')
  expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
})

test('a personal token does what I may, shows its secret once, and ends when it is deleted', async ({
  console,
  signIn,
}) => {
  const person = await signIn()
  const made = await person.post('/api/v2/me/tokens', { name: 'script', expiresInDays: 7 })
  expect(said(made)).toBe('201')
  expect(made.headers.get('Cache-Control')).toBe('no-store')
  const byToken = callerOf(console.url, person.id, made.body.secret)
  expect((await byToken.get('/api/v2/me')).body.id).toBe(person.id)

  const listed = await person.get('/api/v2/me/tokens')
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(made.body.token.id)
  expect(JSON.stringify(listed.body)).not.toContain(made.body.secret)

  expect(said(await person.delete(`/api/v2/me/tokens/${made.body.token.id}`))).toBe('204')
  expect(said(await byToken.get('/api/v2/me'))).toBe('401 token_invalid')
  expect(said(await person.delete(`/api/v2/me/tokens/${made.body.token.id}`))).toBe('404 not_found')
})

test("nobody deletes another person's token [not_found]", async ({ signIn }) => {
  const [one, other] = [await signIn(), await signIn()]
  const made = await one.post('/api/v2/me/tokens', { name: 'mine' })
  expect(said(await other.delete(`/api/v2/me/tokens/${made.body.token.id}`))).toBe('404 not_found')
})

test('another password needs the one before, and ends every session but no token [sign_in_failed]', async ({
  console,
  signIn,
}) => {
  const person = await signIn()
  const email = `${person.id}@example.test`
  expect(said(await person.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
  const sessions = await Promise.all([1, 2].map(() => sessionBy(console.url, email, PASSWORD)))
  const me = (Cookie: string) => fetch(`${console.url}/api/v2/me`, { headers: { Cookie } })
  expect(await Promise.all(sessions.map(async (cookie) => (await me(cookie)).status))).toEqual([200, 200])

  const fresh = { password: 'another passphrase' }
  expect(said(await person.put('/api/v2/me/password', fresh))).toBe('401 sign_in_failed')
  expect(said(await person.put('/api/v2/me/password', { ...fresh, current: 'not it at all' }))).toBe(
    '401 sign_in_failed',
  )
  expect(said(await person.put('/api/v2/me/password', { ...fresh, current: PASSWORD }))).toBe('204')
  expect(await Promise.all(sessions.map(async (cookie) => (await me(cookie)).status))).toEqual([401, 401])
  expect(said(await person.get('/api/v2/me'))).toBe('200')
})

test.for([
  ['too-short', '400 invalid_request'],
  ['12 letters..', '204'],
  ['x'.repeat(256), '204'],
  ['x'.repeat(257), '400 invalid_request'],
])('a password of 12 to 256 characters is taken, whatever is in it: %s', async ([password, outcome], { signIn }) => {
  const person = await signIn()
  expect(said(await person.put('/api/v2/me/password', { password }))).toBe(outcome)
})

test('who signs in on the old password while it is changed has no session after it', async ({
  console,
  signIn,
  world,
}) => {
  const person = await signIn()
  const email = `${person.id}@example.test`
  await person.put('/api/v2/me/password', { password: PASSWORD })
  // The sign-in has looked at the old password when this commits: it waits for the row.
  await world.run('BEGIN')
  await world.run(`UPDATE control.people SET password_hash = 'changed' WHERE id = $1`, [person.id])
  const signingIn = signInBy(console.url, email, PASSWORD)
  await untilSomebodyWaits(world)
  await world.run('COMMIT')
  expect(said(await answerOf(await signingIn))).toBe('401 sign_in_failed')
  const { rows } = await world.run(`SELECT FROM control.person_tokens WHERE person = $1 AND id LIKE 'ses%'`, [
    person.id,
  ])
  expect(rows).toHaveLength(0)
})

test.for([
  ['Sec-Fetch-Site: cross-site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['Sec-Fetch-Site: same-site', { 'Sec-Fetch-Site': 'same-site' }],
  ['a foreign Origin', { Origin: 'https://elsewhere.test' }],
  ['an Origin of another port', { Origin: 'http://127.0.0.1:1' }],
  ['no Origin it would name', { Origin: 'null' }],
] as const)(
  'what another page sends with %s changes nothing [invalid_request]',
  async ([, headers], { console, signIn }) => {
    const Cookie = `svc_session=${(await signIn()).token}`
    const post = (path: string, body: object) =>
      fetch(console.url + path, { method: 'POST', headers: { ...headers, Cookie }, body: JSON.stringify(body) })
    expect(said(await answerOf(await post('/api/v2/me/tokens', { name: 'theirs' })))).toBe('400 invalid_request')
    // Nor does it sign anybody in to an account of its own choice.
    const session = await post('/api/v2/session', { email: 'a@example.test', password: PASSWORD })
    expect(said(await answerOf(session))).toBe('400 invalid_request')
    expect((await fetch(`${console.url}/api/v2/me`, { headers: { ...headers, Cookie } })).status).toBe(200)
  },
)

test("what our own page sends, or a program, goes through; a foreign page can't send a token", async ({
  console,
  signIn,
}) => {
  const { token } = await signIn()
  const Cookie = `svc_session=${token}`
  const Authorization = `Bearer ${token}`
  const { origin } = new URL(console.url)
  for (const headers of [
    { Cookie },
    { Cookie, 'Sec-Fetch-Site': 'same-origin' },
    { Cookie, Origin: origin },
    { Authorization, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.test' },
  ] as Record<string, string>[]) {
    const answer = await fetch(`${console.url}/api/v2/me/tokens`, { method: 'POST', headers, body: '{"name": "x"}' })
    expect(answer.status).toBe(201)
  }
  // No answer lets a page of another site read it, or ask whether it may.
  const preflight = await fetch(`${console.url}/api/v2/me/tokens`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://elsewhere.test', 'Access-Control-Request-Method': 'POST' },
  })
  expect(preflight.headers.get('Access-Control-Allow-Origin')).toBeNull()
})

test('guesses are counted for all replicas, and by e-mail from wherever they come [rate_limited]', async ({
  console,
  database,
  folder,
  signIn,
  world,
  onTestFinished,
}) => {
  const env = { DATABASE_URL: database.consoleUrl, LEDGER_URL: 'http://127.0.0.1:9', SERVICE_SECRET: 'c'.repeat(32) }
  const entry = path.join(import.meta.dirname, '../main.ts')
  const replica = await startProgram({ name: 'console-replica', entry, folder, env })
  onTestFinished(replica.stop)
  const email = `${(await signIn()).id}@example.test`
  const guess = (n: number, address: string) => signInBy([console, replica][n % 2]!.url, email, 'a guess', address)
  const fromOne = await Promise.all(Array.from({ length: 8 }, (_, n) => guess(n, '198.51.100.1')))
  expect(fromOne.filter(({ status }) => status === 401)).toHaveLength(5)
  expect(fromOne.filter(({ status }) => status === 429)).toHaveLength(3)
  // Many addresses: fifty guesses in ten minutes, of which those before are counted as if they had been made.
  const counted = `email:${createHash('sha256').update(email).digest('base64url')}`
  const { rowCount } = await world.run('UPDATE control.sign_in_attempts SET points = 49 WHERE key = $1', [counted])
  expect(rowCount).toBe(1)
  expect((await guess(0, '198.51.100.2')).status).toBe(401)
  expect((await guess(1, '198.51.100.3')).status).toBe(429)
  expect((await guess(0, '198.51.100.4')).status).toBe(429)
  const other = `${(await signIn()).id}@example.test`
  expect((await signInBy(replica.url, other, 'a guess', '198.51.100.250')).status).toBe(401)
})

test('no e-mail and no address can be read from what is counted', async ({ console, world }) => {
  await signInBy(console.url, 'counted@example.test', PASSWORD, '203.0.113.77')
  const { rows } = await world.run('SELECT key FROM control.sign_in_attempts')
  expect(rows.length).toBeGreaterThanOrEqual(3)
  for (const { key } of rows) expect(key).toMatch(/^(both|email|address):[\w-]{43}$/)
})

function signInBy(url: string, email: string, password: string, address?: string): Promise<Response> {
  const headers: Record<string, string> = address === undefined ? {} : { 'X-Forwarded-For': address }
  return fetch(`${url}/api/v2/session`, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
}

async function sessionBy(url: string, email: string, password: string): Promise<string> {
  const answer = await signInBy(url, email, password)
  expect(answer.status).toBe(201)
  return answer.headers.getSetCookie()[0]!.split(';')[0]!
}
