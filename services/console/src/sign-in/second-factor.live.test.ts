import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import {
  type Answer,
  answerOf,
  appCode,
  callerOf,
  consoleTest,
  outcomeOf,
  sessionSetBy,
  signInBy,
  uniqueAddress,
  untilBlocked,
} from '../console.fixture.ts'
import { delayAfterMs } from './second-factor.ts'

const PASSWORD = 'correct horse battery'
const FAILED = '401 second_factor_failed'

const test = consoleTest
  /** A user with a password and a session. */
  .extend('user', async ({ signIn, console, fixture }) => {
    const token = await signIn()
    expect(outcomeOf(await token.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
    const session = (await fixture.session(token.id)).secret
    return { ...callerOf(console.url, token.id, session), email: `${token.id}@example.test` }
  })
  /** The same user with an authenticator app. */
  .extend('app', async ({ user, console, fixture }) => {
    const { body } = await user.post('/api/v2/me/second-factor', { password: PASSWORD })
    const code = (steps = 0) => appCode(body.secret, steps)
    const confirmed = await user.post('/api/v2/me/second-factor/confirm', { code: code() })
    expect(outcomeOf(confirmed)).toBe('200')
    Object.assign(user, callerOf(console.url, user.id, sessionSetBy(confirmed)))
    return {
      code,
      /** Six digits that differ from each accepted code. */
      wrong: () => ['000000', '111111', '222222', '333333'].find((text) => ![-1, 0, 1].map(code).includes(text))!,
      recoveryCodes: confirmed.body.recoveryCodes as string[],
      /** Makes the next code wait as after this many wrong ones. */
      failed: (failures: number) =>
        fixture.run('UPDATE control.second_factors SET failures = $2, retry_at = $3 WHERE user_id = $1', [
          user.id,
          failures,
          new Date(Date.now() + delayAfterMs(failures)),
        ]),
      /** Makes the codes of this moment acceptable again. */
      forgetUsed: () => fixture.run('UPDATE control.second_factors SET last_step = 0 WHERE user_id = $1', [user.id]),
    }
  })
  /** Signs in by password in a browser, up to the code. */
  .extend('begin', ({ console, user }) => async () => {
    const answer = await signInBy(console.url, user.email, PASSWORD)
    const [cookie] = answer.headers.getSetCookie()
    const Cookie = cookie!.split(';')[0]!
    const complete = async (code: string, address = uniqueAddress()): Promise<Answer> => {
      const headers = { Cookie, 'Content-Type': 'application/json', 'X-Forwarded-For': address }
      const body = JSON.stringify({ code })
      return answerOf(await fetch(`${console.url}/api/v2/session/second-factor`, { method: 'POST', headers, body }))
    }
    return { answer: await answerOf(answer), Cookie, cookie: cookie!, complete }
  })

test('signing in takes a code once an authenticator app is confirmed [second_factor_failed]', async ({
  console,
  app,
  user,
  begin,
}) => {
  await app.forgetUsed()
  const { answer, cookie, Cookie, complete } = await begin()
  expect(outcomeOf(answer)).toBe('202')
  expect(answer.body).toEqual({ secondFactor: 'required', expiresAt: expect.any(String) as string })
  expect(cookie).toMatch(/^svc_second_factor=[\w-]{43}; Max-Age=600; Path=\/; Expires=.*; HttpOnly; SameSite=Strict$/)

  // The ticket opens nothing else, neither as a cookie nor as the session or a token.
  const ticket = Cookie.split('=')[1]!
  for (const headers of [{ Cookie }, { Cookie: `svc_session=${ticket}` }])
    expect((await fetch(`${console.url}/api/v2/me`, { headers })).status).toBe(401)
  expect(outcomeOf(await callerOf(console.url, '', ticket).get('/api/v2/me'))).toBe('401 token_invalid')
  const methods = await fetch(`${console.url}/api/v2/session`, { headers: { Cookie } })
  expect(await methods.json()).toMatchObject({ secondFactor: true })

  expect(outcomeOf(await complete(app.wrong()))).toBe(FAILED)
  const done = await complete(app.code())
  expect(outcomeOf(done)).toBe('201')
  expect(done.body).toMatchObject({ id: user.id, secondFactor: true })
  const sessions = await callerOf(console.url, '', sessionSetBy(done)).get('/api/v2/me/sessions')
  expect(sessions.body.data.find(({ current }: { current: boolean }) => current)).toMatchObject({
    method: 'password',
    secondFactor: true,
  })
  expect(outcomeOf(await complete(app.code(1)))).toBe(FAILED) // the ticket is used up
})

test('a code works once, even for concurrent sign-ins [second_factor_failed]', async ({ app, begin }) => {
  await app.forgetUsed()
  const code = app.code()
  const begun = await Promise.all([1, 2, 3].map(begin))
  const outcomes = (await Promise.all(begun.map(({ complete }) => complete(code)))).map(outcomeOf)
  expect(outcomes.toSorted()).toEqual(['201', FAILED, FAILED])
  const left = begun[outcomes.indexOf(FAILED)]!
  expect(outcomeOf(await left.complete(code))).toBe(FAILED)
  expect(outcomeOf(await left.complete(app.code(-1)))).toBe(FAILED) // from before the accepted one
  expect(outcomeOf(await left.complete(app.code(1)))).toBe('201')
})

test('a recovery code replaces a code once, however it is typed [second_factor_failed]', async ({
  app,
  user,
  begin,
}) => {
  const [first, second] = app.recoveryCodes
  expect(app.recoveryCodes).toHaveLength(10)
  const [one, other] = [await begin(), await begin()]
  const outcomes = (await Promise.all([one.complete(first!), other.complete(first!)])).map(outcomeOf)
  expect(outcomes.toSorted()).toEqual(['201', FAILED])
  const typed = ` ${second!.toUpperCase().replaceAll('-', ' ')} `
  expect(outcomeOf(await (await begin()).complete(typed))).toBe('201')
  expect((await user.get('/api/v2/me/second-factor')).body).toMatchObject({ recoveryCodesLeft: 8 })
})

test('new recovery codes replace the ones before', async ({ app, user, begin }) => {
  await app.forgetUsed()
  const made = await user.post('/api/v2/me/second-factor/recovery-codes', { code: app.code() })
  expect(made.body.recoveryCodes).toHaveLength(10)
  expect(outcomeOf(await (await begin()).complete(app.recoveryCodes[0]!))).toBe(FAILED)
  expect(outcomeOf(await (await begin()).complete(made.body.recoveryCodes[0]))).toBe('201')
})

test('wrong codes make the next one wait, in every browser, but no recovery code [rate_limited]', async ({
  app,
  begin,
}) => {
  await app.forgetUsed()
  const [one, other] = [await begin(), await begin()]
  for (let n = 0; n < 5; n++) expect(outcomeOf(await one.complete(app.wrong()))).toBe(FAILED)
  const waiting = await other.complete(app.code())
  expect(outcomeOf(waiting)).toBe('429 rate_limited')
  expect(Number(waiting.headers.get('Retry-After'))).toBeGreaterThan(25)
  await app.failed(12) // an hour
  const longer = await other.complete(app.code())
  expect([outcomeOf(longer), longer.headers.get('Retry-After')]).toEqual(['429 rate_limited', '30'])
  expect(longer.body.error.resolution).toMatch(/^Retry in (3600|35\d\d) seconds, or use a recovery code\.$/)
  expect(outcomeOf(await other.complete(app.recoveryCodes[0]!))).toBe('201')
})

test('a good ticket is not slowed down by other requests of its address, unlike a bad one [rate_limited]', async ({
  console,
  app,
  begin,
}) => {
  await app.forgetUsed()
  const [one, other] = [await begin(), await begin()]
  const address = uniqueAddress()
  const junk = () =>
    fetch(`${console.url}/api/v2/session/reset/complete`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body: '{}',
    })
  await expect.poll(async () => (await junk()).status, { interval: 0, timeout: 30_000 }).toBe(429)
  expect(outcomeOf(await one.complete(app.code(), address))).toBe('201')
  expect(outcomeOf(await other.complete(app.recoveryCodes[0]!, address))).toBe('201')
  expect(outcomeOf(await other.complete(app.code(1), address))).toBe('429 rate_limited') // its ticket is used up
})

test.for([
  [1, 0],
  [4, 0],
  [5, 30_000],
  [6, 60_000],
  [11, 1_920_000],
  [12, 3_600_000],
  [1_000_000, 3_600_000],
] as const)('after %i wrong codes in a row the next one waits %i ms', ([failures, ms]) => {
  expect(delayAfterMs(failures)).toBe(ms)
})

test('setting up takes a session and the password, and confirming ends all other sessions [session_required] [sign_in_failed]', async ({
  console,
  fixture,
  user,
}) => {
  const path = '/api/v2/me/second-factor'
  const token = callerOf(console.url, user.id, (await fixture.token(user.id)).secret)
  const other = callerOf(console.url, user.id, (await fixture.session(user.id)).secret)
  expect(outcomeOf(await token.post(path, { password: PASSWORD }))).toBe('403 session_required')
  expect(outcomeOf(await user.post(path, {}))).toBe('401 sign_in_failed')
  expect(outcomeOf(await user.post(path, { password: 'not the right one' }))).toBe('401 sign_in_failed')

  const first = (await user.post(path, { password: PASSWORD })).body.secret as string
  const { secret, uri } = (await user.post(path, { password: PASSWORD })).body as { secret: string; uri: string }
  expect(secret).not.toBe(first)
  expect(uri).toContain(`secret=${secret}`)
  expect((await user.get(path)).body).toEqual({ confirmedAt: null, recoveryCodesLeft: 0 })
  expect((await signInBy(console.url, user.email, PASSWORD)).status).toBe(201) // not in use yet

  const [code, replaced] = [appCode(secret), appCode(first)]
  expect(outcomeOf(await user.post(`${path}/confirm`, { code: replaced }))).toBe(FAILED)
  expect(outcomeOf(await token.post(`${path}/confirm`, { code }))).toBe('403 session_required')
  const confirmed = await user.post(`${path}/confirm`, { code })
  expect(outcomeOf(confirmed)).toBe('200')
  const renewed = callerOf(console.url, user.id, sessionSetBy(confirmed))
  expect(outcomeOf(await renewed.post(path, { password: PASSWORD }))).toBe('409 already_exists')
  expect(outcomeOf(await other.get('/api/v2/me'))).toBe('401 session_missing')
  expect((await renewed.get('/api/v2/me')).body.secondFactor).toBe(true)
  expect((await token.get('/api/v2/me')).body.secondFactor).toBe(false)
})

test('confirming changes the secret of its session, so a copy of the cookie does not pass for a second factor [session_missing]', async ({
  console,
  user,
}) => {
  const [before] = (await user.get('/api/v2/me/sessions')).body.data
  const { secret } = (await user.post('/api/v2/me/second-factor', { password: PASSWORD })).body
  const confirmed = await user.post('/api/v2/me/second-factor/confirm', { code: appCode(secret) })
  expect(outcomeOf(await user.get('/api/v2/me'))).toBe('401 session_missing')

  const renewed = callerOf(console.url, user.id, sessionSetBy(confirmed))
  expect((await renewed.get('/api/v2/me')).body.secondFactor).toBe(true)
  const [after] = (await renewed.get('/api/v2/me/sessions')).body.data
  expect(after).toEqual({ ...before, secondFactor: true, lastUsedAt: expect.any(String) })
  const cookie = confirmed.headers.getSetCookie().find((each) => each.startsWith('svc_session='))
  const expires = new Date(/Expires=([^;]+)/.exec(cookie!)![1]!).getTime()
  expect(Math.abs(expires - new Date(before.expiresAt).getTime())).toBeLessThan(60_000) // the session lives no longer
})

test('a token that a copy of the cookie creates while the factor is confirmed has no second factor', async ({
  console,
  user,
  fixture,
}) => {
  await fixture.run('BEGIN')
  await fixture.run('UPDATE control.sessions SET second_factor = true WHERE user_id = $1', [user.id])
  const creating = user.post('/api/v2/me/tokens', { name: 'of a copy', scopes: ['account:read'] })
  await untilBlocked(fixture)
  await fixture.run('COMMIT')
  const { body } = await creating
  expect((await callerOf(console.url, user.id, body.secret).get('/api/v2/me')).body.secondFactor).toBe(false)
})

test('stores the secret encrypted and recovery codes as digests', async ({ fixture, user, app }) => {
  const { rows } = await fixture.run(
    `SELECT (SELECT string_agg(encode(hash, 'escape'), ' ') FROM control.recovery_codes WHERE user_id = $1) ||
            (SELECT encode(secret, 'escape') FROM control.second_factors WHERE user_id = $1) AS stored`,
    [user.id],
  )
  const [{ stored }] = rows as [{ stored: string }]
  for (const code of app.recoveryCodes) expect(stored).not.toContain(code.replaceAll('-', ''))
})

test('removing takes a code, and ends the effect of codes given before [second_factor_failed]', async ({
  console,
  app,
  user,
}) => {
  const path = '/api/v2/me/second-factor/remove'
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const { code } = (await user.post('/api/v2/me/sign-in-codes', { name: 'laptop', challenge })).body
  expect(outcomeOf(await user.post(path, { code: app.wrong() }))).toBe(FAILED)
  expect(outcomeOf(await user.post(path, { code: app.recoveryCodes[0] }))).toBe('204')
  expect((await user.get('/api/v2/me')).body.secondFactor).toBe(false)
  expect((await signInBy(console.url, user.email, PASSWORD)).status).toBe(201)
  expect(outcomeOf(await user.post('/api/v2/session/tokens', { code, verifier }))).toBe('400 invalid_request')
})

test('changing the password ends a sign-in that waits for its code [second_factor_failed]', async ({
  app,
  user,
  begin,
}) => {
  const { complete } = await begin()
  await app.forgetUsed()
  const change = { password: 'another passphrase', current: PASSWORD }
  expect(outcomeOf(await user.put('/api/v2/me/password', change))).toBe('204')
  expect(outcomeOf(await complete(app.code()))).toBe(FAILED)
})

test('a sign-in waits ten minutes for its code [second_factor_failed]', async ({ fixture, app, user, begin }) => {
  const { complete } = await begin()
  await app.forgetUsed()
  await fixture.run(`UPDATE control.sign_in_tickets SET expires_at = now() - interval '1 s' WHERE user_id = $1`, [
    user.id,
  ])
  expect(outcomeOf(await complete(app.code()))).toBe(FAILED)
})

test('an organization that requires a second factor is closed to a member without one, and to their tokens [second_factor_required]', async ({
  console,
  fixture,
  signIn,
  stack,
}) => {
  const required = '403 second_factor_required'
  const change = (by: typeof stack.owner) => by.patch(stack.path, { requireSecondFactor: true })
  const admin = await signIn({ id: stack.owner.id, by: 'session', secondFactor: true })
  expect(outcomeOf(await change(stack.owner))).toBe(required) // they would lock themselves out
  expect(outcomeOf(await change(admin))).toBe('200')

  const member = await stack.member({ team: 'Team Member', project: 'Project Owner' })
  const session = await signIn({ id: member.id, by: 'session' })
  for (const caller of [member, session, stack.owner])
    for (const path of [
      `${stack.path}/members`,
      `${stack.path}/keys`,
      stack.projectPath + '/wallet',
      `${stack.projectPath}/sandboxes`,
    ])
      expect([path, outcomeOf(await caller.get(path))]).toEqual([path, required])
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys`, { project: stack.project }))).toBe(required)
  const me = await session.get('/api/v2/me')
  expect(me.body.tenants).toEqual([
    expect.objectContaining({ id: stack.tenant, needsSecondFactor: true, teams: [], projects: [] }),
  ])

  const proven = await signIn({ id: member.id, by: 'session', secondFactor: true })
  expect(outcomeOf(await proven.get(`${stack.projectPath}/wallet`))).toBe('200')
  const made = await proven.post('/api/v2/me/tokens', { name: 'from a session with a second factor' })
  const token = callerOf(console.url, member.id, made.body.secret)
  expect(outcomeOf(await token.get(`${stack.projectPath}/wallet`))).toBe('200')
  const program = await fixture.accessToken({ tenant: stack.tenant, project: null, permissions: ['users.read'] })
  expect(outcomeOf(await callerOf(console.url, '', program.secret).get(`${stack.path}/members`))).toBe('200')
  expect(outcomeOf(await admin.patch(stack.path, { requireSecondFactor: false }))).toBe('200')
  expect(outcomeOf(await session.get(`${stack.projectPath}/wallet`))).toBe('200')
})
