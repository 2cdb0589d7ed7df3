import { rm } from 'node:fs/promises'
import { expect } from 'vitest'
import { startInProcess } from '@gateway/testbed/service-in-process'
import type { RunningService } from '@gateway/testbed/test-program'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import {
  answerOf,
  type Caller,
  callerOf,
  consoleTest,
  outcomeOf,
  signInBy,
  uniqueAddress,
} from '../../console.fixture.ts'
import { CLIENT, startProvider, untilReached, type TestProvider } from './provider.fixture.ts'

const PUBLIC_URL = 'https://models.example.test'
const CALLBACK = `${PUBLIC_URL}/api/v2/session/oidc/callback`
const LEDGER_AWAY = {
  LEDGER_URL: 'http://127.0.0.1:9',
  SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
  SECOND_FACTOR_KEY: 'k'.repeat(32),
}
const OIDC = { PUBLIC_URL, TRUSTED_PROXIES: 'loopback', OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret }

const test = consoleTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the needed fixtures from this pattern
  .extend('provider', { scope: 'file' }, async ({}, { onCleanup }) => {
    const provider = await startProvider({ redirectUri: CALLBACK })
    onCleanup(provider.stop)
    return provider
  })
  .extend('console', { scope: 'file' }, async ({ database, provider, folder }, { onCleanup }) => {
    const env = { DATABASE_URL: database.consoleUrl, ...LEDGER_AWAY, ...OIDC, OIDC_ISSUER: provider.issuer }
    const program = await startInProcess({ name: 'console', service: 'console', folder, env })
    onCleanup(program.stop)
    await untilReached(program.url)
    return program
  })

interface Begun {
  /** Provider URL to which the console redirected the browser. */
  address: string
  cookie: string
}

async function begin(console: RunningService, search = ''): Promise<Begun> {
  const answer = await fetch(`${console.url}/api/v2/session/oidc${search}`, {
    redirect: 'manual',
    headers: { 'X-Forwarded-For': uniqueAddress() },
  })
  expect(answer.status).toBe(303)
  const [cookie = ''] = answer.headers.getSetCookie()
  return { address: answer.headers.get('Location')!, cookie: cookie.split(';')[0]! }
}

/** Follows the provider's redirect back to the console. */
async function comeBack(console: RunningService, back: string, cookie: string, headers = {}) {
  const { pathname, search } = new URL(back)
  return fetch(console.url + pathname + search, {
    redirect: 'manual',
    headers: { 'X-Forwarded-For': uniqueAddress(), Cookie: cookie, ...headers },
  })
}

async function signInAt(console: RunningService, provider: TestProvider, more = '') {
  const { address, cookie } = await begin(console)
  return comeBack(console, await provider.visit(address), `${cookie}; ${more}`)
}

/** Invites an email, and returns the secret of the link. */
async function invitedBy({ owner, path }: { owner: Caller; path: string }, email: string, role = 'Member') {
  const made = await owner.post(`${path}/invitations`, { email, role })
  expect(outcomeOf(made)).toBe('201')
  expect(made.body.link).toContain(`${PUBLIC_URL}/console/invitation#`)
  return (made.body.link as string).split('#')[1]!
}

const posted = (console: RunningService, path: string, body: object) =>
  fetch(console.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() },
    body: JSON.stringify(body),
  })

const accept = (console: RunningService, secret: string, password: string) =>
  posted(console, '/api/v2/invitations/accept', { secret, name: 'Grace', password })

/** The cookie in which a browser carries an invitation to the provider. */
async function carry(console: RunningService, secret: string): Promise<string> {
  const answer = await posted(console, '/api/v2/invitations/sign-in', { secret })
  expect(answer.status).toBe(204)
  const [cookie = ''] = answer.headers.getSetCookie()
  expect(cookie).toMatch(/^__Host-svc_invitation=[\w-]{43}; Max-Age=600; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/)
  return cookie.split(';')[0]!
}

/** Status and code of a refused sign-in, such as `403 not_permitted`. */
const refusalOf = async (answer: Response) => outcomeOf(await answerOf(answer))

function sessionOf(answer: Response): string {
  const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('__Host-svc_session='))
  expect(cookie, `${answer.status}`).toBeDefined()
  return cookie!.split(';')[0]!
}

const user = async (fixture: { user(): Promise<string> }) => {
  const id = await fixture.user()
  return { id, email: `${id}@example.test` }
}

test('signs in a user by verified email the first time, and by the linked identity afterwards', async ({
  console,
  provider,
  fixture,
}) => {
  const { id, email } = await user(fixture)
  provider.sit('ada', { email: email.toUpperCase(), email_verified: true })
  const answer = await signInAt(console, provider)
  expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/console'])
  const session = answer.headers.getSetCookie().find((each) => each.startsWith('__Host-svc_session='))
  expect(session).toMatch(/; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/)
  const me = await fetch(`${console.url}/api/v2/me`, { headers: { Cookie: sessionOf(answer) } })
  expect(await me.json()).toMatchObject({ id, email })

  provider.sit('ada', { email: 'renamed@example.test', email_verified: false })
  const again = await signInAt(console, provider)
  const same = await fetch(`${console.url}/api/v2/me`, { headers: { Cookie: sessionOf(again) } })
  expect(await same.json()).toMatchObject({ id, email })
  const { rows } = await fixture.run(
    `SELECT action, details FROM control.audit WHERE user_id = $1 AND action <> 'session.create'`,
    [id],
  )
  expect(rows).toEqual([{ action: 'identity.link', details: { issuer: provider.issuer, endedWhatWasBefore: false } }])
})

test('a user without a password sets up a second factor only within ten minutes of the sign-in [session_required]', async ({
  console,
  provider,
  fixture,
}) => {
  const { id, email } = await user(fixture)
  provider.sit(id, { email, email_verified: true })
  const Cookie = sessionOf(await signInAt(console, provider))
  const setUp = async () => {
    const headers = { Cookie, 'Content-Type': 'application/json' }
    return answerOf(await fetch(`${console.url}/api/v2/me/second-factor`, { method: 'POST', headers, body: '{}' }))
  }
  expect(outcomeOf(await setUp())).toBe('201')
  await fixture.run(
    `UPDATE control.sessions SET created_at = created_at - interval '11 minutes', last_used_at = now() WHERE user_id = $1`,
    [id],
  )
  const refused = await setUp()
  expect(outcomeOf(refused)).toBe('403 session_required')
  expect(refused.body.error).toMatchObject({
    message: 'You signed in more than ten minutes ago.',
    resolution: 'Sign in again through single sign-on, then set it up.',
  })
})

test('redirects to the provider with state, nonce and code challenge, and sets a cookie that proves them', async ({
  console,
}) => {
  const answer = await fetch(`${console.url}/api/v2/session/oidc`, {
    redirect: 'manual',
    headers: { 'X-Forwarded-For': uniqueAddress() },
  })
  const { searchParams } = new URL(answer.headers.get('Location')!)
  expect(Object.fromEntries(searchParams)).toEqual({
    client_id: CLIENT.id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-svc_sign_in=[\w.-]{143}; Max-Age=600; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/),
  ])
})

test('redirects back to the requested console page, and never elsewhere if the cookie was altered', async ({
  console,
  provider,
  fixture,
}) => {
  const { email } = await user(fixture)
  provider.sit('deep', { email, email_verified: true })
  const returnTo = '/console/projects/ten_1/prj_1/calls?state=Settled&since=day#newest'
  const goesTo = async (put: (cookie: string) => string) => {
    const { address, cookie } = await begin(console, `?returnTo=${encodeURIComponent(returnTo)}`)
    const { status, headers } = await comeBack(console, await provider.visit(address), put(cookie))
    return [status, headers.get('Location')]
  }
  const forged = (address: string) => (cookie: string) =>
    cookie.replace(/[\w-]+$/, Buffer.from(address).toString('base64url'))
  expect(await goesTo((cookie) => cookie)).toEqual([303, returnTo])
  for (const address of [
    '//evil.example',
    'https://evil.example/console',
    '/console/../docs',
    '/\\evil.example',
    '\r\n',
  ])
    expect([address, await goesTo(forged(address))]).toEqual([address, [303, '/console']])
})

test.for([
  'returnTo=//evil.example',
  'returnTo=/%5Cevil.example',
  'returnTo=https://evil.example/console',
  'returnTo=javascript:alert(1)',
  'returnTo=/console/../docs',
  'returnTo=/console/%252e%252e/docs',
  'returnTo=/console%09/../docs',
  'returnTo=/console%0D%0ASet-Cookie:%20a=b',
  `returnTo=/console/${'a'.repeat(2_000)}`,
  'returnTo=',
  'returnTo=/console&returnTo=//evil.example',
  'returnTo[]=/console',
  'next=/console',
])('refuses to start a sign-in with %s [invalid_request]', async (search, { console }) => {
  const answer = await fetch(`${console.url}/api/v2/session/oidc?${search}`, {
    redirect: 'manual',
    headers: { 'X-Forwarded-For': uniqueAddress() },
  })
  expect([answer.headers.get('Location'), answer.headers.getSetCookie()]).toEqual([null, []])
  expect(await refusalOf(answer)).toBe('400 invalid_request')
})

test('refuses an email without an account, and creates no user for it [not_permitted]', async ({
  console,
  provider,
  fixture,
}) => {
  provider.sit('outsider', { email: 'outsider@example.test', email_verified: true })
  const answer = await answerOf(await signInAt(console, provider))
  expect(outcomeOf(answer)).toBe('403 not_permitted')
  expect(answer.body.error.message).toBe('There is no account for the email outsider@example.test.')
  expect(answer.headers.getSetCookie().join()).not.toContain('svc_session')
  const { rows } = await fixture.run(`SELECT FROM control.users WHERE email = 'outsider@example.test'`)
  expect(rows).toHaveLength(0)
})

test.for([
  ['not verified', { email_verified: false }],
  ['without a verified claim', {}],
  ['verified only by a string claim', { email_verified: 'true' as unknown as boolean }],
])('refuses an email that is %s [not_permitted]', async ([, claims], { console, provider, fixture }) => {
  const { email } = await user(fixture)
  provider.sit(`unverified-${email}`, { email, ...(claims as object) })
  expect(await refusalOf(await signInAt(console, provider))).toBe('403 not_permitted')
})

test('refuses a known email under a different provider identity [not_permitted]', async ({
  console,
  provider,
  fixture,
}) => {
  const { email } = await user(fixture)
  provider.sit('first-instance', { email, email_verified: true })
  sessionOf(await signInAt(console, provider))
  provider.sit('second-instance', { email, email_verified: true })
  expect(await refusalOf(await signInAt(console, provider))).toBe('403 not_permitted')
})

test('the return of a sign-in that another one replaced is refused and leaves the other to finish [invalid_request]', async ({
  console,
  provider,
  stack,
  fixture,
}) => {
  const { id, email } = await user(fixture)
  provider.sit(`two-tabs-${id}`, { email, email_verified: true })
  const [first, second] = [await begin(console), await begin(console)]
  const cookies = `${second.cookie}; ${await carry(console, await invitedBy(stack, email))}`
  const late = await comeBack(console, await provider.visit(first.address), cookies)
  expect([late.headers.getSetCookie(), await refusalOf(late)]).toEqual([[], '400 invalid_request'])
  sessionOf(await comeBack(console, await provider.visit(second.address), cookies))
  const { rows } = await fixture.run('SELECT user_id FROM control.memberships WHERE tenant = $1', [stack.tenant])
  expect(rows).toContainEqual({ user_id: id })
})

test('concurrent first sign-ins link one identity', async ({ console, provider, fixture }) => {
  const { id, email } = await user(fixture)
  provider.sit('twice', { email, email_verified: true })
  const visits = await Promise.all(
    [1, 2, 3].map(async () => {
      const { address, cookie } = await begin(console)
      return { back: await provider.visit(address), cookie }
    }),
  )
  const answers = await Promise.all(visits.map(({ back, cookie }) => comeBack(console, back, cookie)))
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
  const { rows } = await fixture.run('SELECT subject FROM control.user_identities WHERE user_id = $1', [id])
  expect(rows).toEqual([{ subject: 'twice' }])
})

test('the first provider sign-in ends what came from a link that an Admin handed over, with its sessions and tokens', async ({
  console,
  provider,
  stack,
  fixture,
}) => {
  const email = `invited.${stack.tenant}@example.test`
  const password = 'chosen by the holder of the link'
  const before = await accept(console, await invitedBy(stack, email), password)
  expect(before.status).toBe(201)
  const member = (await before.clone().json()) as { id: string }
  const Cookie = sessionOf(before)
  const token = await answerOf(
    await fetch(`${console.url}/api/v2/me/tokens`, { method: 'POST', headers: { Cookie }, body: '{"name": "kept"}' }),
  )
  expect(token.status).toBe(201)

  provider.sit('owner-of-the-email', { email, email_verified: true })
  const after = await signInAt(console, provider)
  const me = await fetch(`${console.url}/api/v2/me`, { headers: { Cookie: sessionOf(after) } })
  expect(await me.json()).toMatchObject({ id: member.id })
  expect(await refusalOf(await signInBy(console.url, email, password))).toBe('401 sign_in_failed')
  expect((await fetch(`${console.url}/api/v2/me`, { headers: { Cookie } })).status).toBe(401)
  expect(outcomeOf(await callerOf(console.url, '', token.body.secret).get('/api/v2/me'))).toBe('401 token_invalid')
  const { rows } = await fixture.run('SELECT password_hash, vouched_by FROM control.users WHERE id = $1', [member.id])
  expect(rows).toEqual([{ password_hash: null, vouched_by: null }])
})

test('an invited user becomes a member by signing in at the provider with the invited email, once and in time', async ({
  console,
  provider,
  stack,
  fixture,
}) => {
  const email = `through-provider.${stack.tenant}@example.test`
  const secret = await invitedBy(stack, email, 'Admin')
  const carried = await carry(console, secret)
  // Another account of the provider uses up nothing.
  const { id, email: theirs } = await user(fixture)
  provider.sit('someone-else', { email: theirs, email_verified: true })
  expect(await refusalOf(await signInAt(console, provider, carried))).toBe('403 not_permitted')
  expect((await fixture.run('SELECT FROM control.memberships WHERE user_id = $1', [id])).rowCount).toBe(0)

  provider.sit('unproven', { email, email_verified: false })
  expect(await refusalOf(await signInAt(console, provider, carried))).toBe('403 not_permitted')

  provider.sit('invited', { email, email_verified: true, name: 'Grace Hopper' })
  expect(await refusalOf(await signInAt(console, provider))).toBe('403 not_permitted') // without the link
  const answer = await signInAt(console, provider, carried)
  expect(answer.headers.getSetCookie().join()).toContain('__Host-svc_invitation=;')
  const me = await fetch(`${console.url}/api/v2/me`, { headers: { Cookie: sessionOf(answer) } })
  expect(await me.json()).toMatchObject({ email, name: 'Grace Hopper', tenants: [{ id: stack.tenant, role: 'Admin' }] })
  const { rows } = await fixture.run('SELECT vouched_by FROM control.users WHERE email = $1', [email])
  expect(rows).toEqual([{ vouched_by: null }])
  expect(await refusalOf(await accept(console, secret, 'after it was used'))).toBe('400 invalid_request')
  const carriedAgain = await posted(console, '/api/v2/invitations/sign-in', { secret })
  expect(await refusalOf(carriedAgain)).toBe('400 invalid_request')

  const late = `late.${email}`
  const lateSecret = await invitedBy(stack, late)
  const carriedLate = await carry(console, lateSecret)
  await fixture.run(`UPDATE control.invitations SET expires_at = now() - interval '1 ms' WHERE email = $1`, [late])
  provider.sit('late', { email: late, email_verified: true })
  expect(await refusalOf(await signInAt(console, provider, carriedLate))).toBe('403 not_permitted')
  const expired = await posted(console, '/api/v2/invitations/sign-in', { secret: lateSecret })
  expect(await refusalOf(expired)).toBe('400 invalid_request')
  await fixture.run(`UPDATE control.invitations SET expires_at = now() + interval '1 hour' WHERE email = $1`, [late])
  sessionOf(await signInAt(console, provider, carriedLate)) // so its time was the cause
})

test('a user who signs in at the provider cannot set a first password, which would outlive that account [not_permitted]', async ({
  console,
  provider,
  fixture,
}) => {
  const { email } = await user(fixture)
  provider.sit('no-password', { email, email_verified: true })
  const Cookie = sessionOf(await signInAt(console, provider))
  const answer = await fetch(`${console.url}/api/v2/me/password`, {
    method: 'PUT',
    headers: { Cookie },
    body: JSON.stringify({ password: 'a first password' }),
  })
  expect(await refusalOf(answer)).toBe('403 not_permitted')
})

test('accepts a provider redirect once, only in the browser that started it and with its own code [invalid_request]', async ({
  console,
  provider,
  fixture,
}) => {
  const { email } = await user(fixture)
  provider.sit('mallory', { email, email_verified: true })
  const [mine, theirs] = [await begin(console), await begin(console)]
  const back = await provider.visit(mine.address)
  expect(await refusalOf(await comeBack(console, back, ''))).toBe('400 invalid_request')
  expect(await refusalOf(await comeBack(console, back, theirs.cookie))).toBe('400 invalid_request')

  // The attacker's code with the victim's state: the code challenge does not match.
  const forged = new URL(back)
  forged.searchParams.set('state', new URL(theirs.address).searchParams.get('state')!)
  expect(await refusalOf(await comeBack(console, forged.href, theirs.cookie))).toBe('400 invalid_request')

  const another = await begin(console)
  const good = await provider.visit(another.address)
  sessionOf(await comeBack(console, good, another.cookie))
  const replayed = await comeBack(console, good, another.cookie)
  expect(await refusalOf(replayed)).toBe('400 invalid_request')
})

test.for([
  ['another signature', (token: string) => token.slice(0, -20) + 'A'.repeat(20)],
  ['no signature', (token: string) => `${unsigned(token)}.`],
] as const)('refuses an ID token with %s', async ([, forge], { console, provider, fixture, onTestFinished }) => {
  const { email } = await user(fixture)
  provider.sit(`forged-${email}`, { email, email_verified: true })
  provider.alter((tokens) => (tokens['id_token'] = forge(tokens['id_token']!)))
  onTestFinished(() => provider.alter(() => {}))
  const answer = await signInAt(console, provider)
  expect(answer.headers.getSetCookie().join()).not.toContain('svc_session')
  expect(await refusalOf(answer)).toBe('400 invalid_request')
})

test.for([
  ['another issuer', { iss: 'https://evil.example' }],
  ['another audience', { aud: 'another client' }],
  ['another nonce', { nonce: 'x'.repeat(43) }],
  ['an end in the past', { exp: 1 }],
] as const)(
  'refuses an ID token with %s, even if the provider signed it [invalid_request]',
  async ([, claims], { console, provider, fixture, onTestFinished }) => {
    const { email } = await user(fixture)
    provider.sit(`claims-${email}`, { email, email_verified: true })
    provider.alter((tokens) => (tokens['id_token'] = provider.sign({ ...claimsOf(tokens['id_token']!), ...claims })))
    onTestFinished(() => provider.alter(() => {}))
    const answer = await signInAt(console, provider)
    expect(answer.headers.getSetCookie().join()).not.toContain('svc_session')
    expect(await refusalOf(answer)).toBe('400 invalid_request')
    provider.alter((tokens) => (tokens['id_token'] = provider.sign(claimsOf(tokens['id_token']!))))
    sessionOf(await signInAt(console, provider)) // so the claim was the cause
  },
)

test('refuses a response with another state, and a code without its verifier [invalid_request]', async ({
  console,
  provider,
  fixture,
}) => {
  const { email } = await user(fixture)
  provider.sit(`state-${email}`, { email, email_verified: true })
  const { address, cookie } = await begin(console)
  const back = new URL(await provider.visit(address))
  back.searchParams.set('state', 'x'.repeat(43))
  expect(await refusalOf(await comeBack(console, back.href, cookie))).toBe('400 invalid_request')

  const second = await begin(console)
  const [name, value = ''] = second.cookie.split('=')
  const [state, nonce, , returnTo] = value.split('.')
  const forged = `${name}=${[state, nonce, 'x'.repeat(43), returnTo].join('.')}`
  const redirected = await provider.visit(second.address)
  expect(await refusalOf(await comeBack(console, redirected, forged))).toBe('400 invalid_request')
})

test('shows a page when the provider denies the sign-in, without any text from the provider', async ({
  console,
  provider,
}) => {
  provider.sit('')
  const { address, cookie } = await begin(console)
  const answer = await comeBack(console, await provider.visit(address), cookie, { Accept: 'text/html,*/*;q=0.8' })
  expect(answer.status).toBe(400)
  expect(answer.headers.get('Content-Security-Policy')).toContain("script-src 'self'")
  const text = await answer.text()
  expect(text).toContain('The sign-in provider did not sign you in (access_denied).')
  expect(text).not.toContain('<b>no</b>')
  const [, stylesheet] = /<link rel="stylesheet" href="([^"]+)"/.exec(text)!
  expect((await fetch(console.url + stylesheet!)).headers.get('Content-Type')).toBe('text/css; charset=utf-8')
})

test('an unreachable provider only blocks sign-ins through it, and is used again once it returns [unavailable]', async ({
  database,
  signIn,
  fixture,
  onTestFinished,
}) => {
  const folder = await temporaryFolder('console')
  onTestFinished(() => rm(folder, { recursive: true }))
  const before = await startProvider({ redirectUri: CALLBACK })
  const OIDC_ISSUER = before.issuer
  await before.stop()
  const env = { DATABASE_URL: database.consoleUrl, ...LEDGER_AWAY, ...OIDC, OIDC_ISSUER }
  const program = await startInProcess({ name: 'console', service: 'console', folder, env })
  onTestFinished(program.stop)
  const health = await fetch(`${program.url}/health/ready`)
  expect([health.status, await health.json()]).toEqual([
    200,
    { status: 'ready', limited: { 'sign-in provider': 'not reached' } },
  ])
  const away = await fetch(`${program.url}/api/v2/session/oidc`)
  expect([await refusalOf(away), away.headers.get('Retry-After')]).toEqual(['503 unavailable', '30'])
  const caller = await signIn()
  expect(outcomeOf(await callerOf(program.url, caller.id, caller.token).get('/api/v2/me'))).toBe('200')

  const provider = await startProvider({ redirectUri: CALLBACK, port: Number(new URL(OIDC_ISSUER).port) })
  onTestFinished(provider.stop)
  await untilReached(program.url)
  expect(await (await fetch(`${program.url}/health/ready`)).json()).toEqual({ status: 'ready' })
  const { email } = await user(fixture)
  provider.sit('late', { email, email_verified: true })
  sessionOf(await signInAt(program, provider))
})

function claimsOf(token: string): object {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object
}

function unsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
  return `${header}.${token.split('.')[1]}`
}
