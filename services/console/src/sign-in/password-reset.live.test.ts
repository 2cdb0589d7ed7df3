import { expect } from 'vitest'
import { answerOf, callerOf, consoleTest, outcomeOf, signInBy, uniqueAddress } from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'
const NEW_PASSWORD = 'a longer sentence than before'
const ENDED = '400 invalid_request'

const test = consoleTest
  .extend('complete', ({ console }) => async (link: string, password = NEW_PASSWORD) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
    const body = JSON.stringify({ secret: link.split('#')[1], password })
    return answerOf(await fetch(`${console.url}/api/v2/session/reset/complete`, { method: 'POST', headers, body }))
  })
  .extend('linkFor', ({ signIn }) => async (email: string) => {
    const operator = await signIn({ platformOperator: true, by: 'session' })
    const made = await operator.post('/api/v2/password-resets', { email })
    expect(outcomeOf(made)).toBe('201')
    return made.body.link as string
  })

test('a link of the operator sets another password once, and ends every session, code, token and known device [token_invalid]', async ({
  console,
  signIn,
  fixture,
  complete,
  linkFor,
}) => {
  const user = await signIn()
  const email = `${user.id}@example.test`
  await user.put('/api/v2/me/password', { password: PASSWORD })
  const session = await signInBy(console.url, email, PASSWORD)
  const [Cookie = ''] = session.headers.getSetCookie().map((each) => each.split(';')[0]!)
  await user.post('/api/v2/me/sign-in-codes', { name: 'x', challenge: 'c'.repeat(43) })

  const link = await linkFor(email)
  expect(link).toMatch(/^\/console\/reset#[\w-]{43}$/)
  const answers = await Promise.all([complete(link), complete(link)])
  expect(answers.map(outcomeOf).toSorted()).toEqual(['204', ENDED])
  expect(answers.flatMap(({ headers }) => headers.getSetCookie()).join()).not.toContain('svc_session')

  expect(outcomeOf(await user.get('/api/v2/me'))).toBe('401 token_invalid')
  expect((await fetch(`${console.url}/api/v2/me`, { headers: { Cookie } })).status).toBe(401)
  const count = async (table: string) =>
    (await fixture.run(`SELECT FROM control.${table} WHERE user_id = $1`, [user.id])).rowCount
  // The device on which the password was reset is the only one known now.
  expect([await count('user_tokens'), await count('sign_in_codes'), await count('known_devices')]).toEqual([0, 0, 1])
  expect((await signInBy(console.url, email, PASSWORD)).status).toBe(401)
  expect((await signInBy(console.url, email, NEW_PASSWORD)).status).toBe(201)
  const { rows } = await fixture.run(
    `SELECT details FROM control.audit WHERE action = 'password.reset' AND subject = $1`,
    [user.id],
  )
  expect(rows).toEqual([{ details: { by: 'operator' } }])
})

test('a link ends when its user changes the password [invalid_request]', async ({ signIn, complete, linkFor }) => {
  const user = await signIn({ by: 'session' })
  const link = await linkFor(`${user.id}@example.test`)
  expect(outcomeOf(await user.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
  expect(outcomeOf(await complete(link))).toBe(ENDED)
})

test('a link ends after an hour and when another is made [invalid_request]', async ({
  signIn,
  fixture,
  complete,
  linkFor,
}) => {
  const user = await signIn()
  const email = `${user.id}@example.test`
  const [first, second] = [await linkFor(email), await linkFor(email)]
  expect(outcomeOf(await complete(first))).toBe(ENDED)
  const { rows } = await fixture.run(
    `UPDATE control.password_resets SET expires_at = now() - interval '1 ms' WHERE user_id = $1
     RETURNING extract(epoch FROM old.expires_at - now()) AS left`,
    [user.id],
  )
  expect(Number(rows[0].left)).toBeGreaterThan(3_500)
  expect(Number(rows[0].left)).toBeLessThanOrEqual(3_600)
  expect(outcomeOf(await complete(second))).toBe(ENDED)
  expect(outcomeOf(await user.get('/api/v2/me'))).toBe('200')
})

test('only the platform operator makes a link, so no Admin becomes another user, and no token does [not_permitted] [session_required]', async ({
  stack,
  signIn,
}) => {
  const member = await stack.member()
  const body = { email: `${member.id}@example.test` }
  const admin = await signIn({ id: stack.owner.id, by: 'session' })
  expect(outcomeOf(await admin.post('/api/v2/password-resets', body))).toBe('403 not_permitted')
  const operator = await signIn({ platformOperator: true })
  expect(outcomeOf(await operator.post('/api/v2/password-resets', body))).toBe('403 session_required')
})

test('without mail, a request for a reset is refused alike for every email [invalid_request]', async ({
  console,
  signIn,
}) => {
  const { id } = await signIn()
  const [one, other] = await Promise.all(
    [`${id}@example.test`, 'unknown@example.test'].map((email) =>
      callerOf(console.url, '', '').post('/api/v2/session/reset', { email }),
    ),
  )
  expect(outcomeOf(one!)).toBe('400 invalid_request')
  expect(one!.body).toEqual(other!.body)
  expect(one!.body.error.resolution).toContain('platform operator')
})

test('a user who signs in at a provider gets no link, which would make a password [invalid_request]', async ({
  signIn,
  fixture,
}) => {
  const [user, operator] = [await signIn(), await signIn({ platformOperator: true, by: 'session' })]
  await fixture.run(`INSERT INTO control.user_identities (issuer, subject, user_id) VALUES ('https://i', $1, $1)`, [
    user.id,
  ])
  const answer = await operator.post('/api/v2/password-resets', { email: `${user.id}@example.test` })
  expect(outcomeOf(answer)).toBe('400 invalid_request')
  expect(outcomeOf(await operator.post('/api/v2/password-resets', { email: 'unknown@example.test' }))).toBe(
    '404 not_found',
  )
})
