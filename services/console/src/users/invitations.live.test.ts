import { expect } from 'vitest'
import {
  answerOf,
  consoleTest,
  outcomeOf,
  signInBy,
  uniqueAddress,
  type Answer,
  type Caller,
} from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'
const ENDED = '400 invalid_request'

const test = consoleTest
  .extend('email', ({ stack }) => `new.${stack.tenant}@example.test`)
  .extend('anyone', ({ console }) => async (path: string, body: object): Promise<Answer> => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
    return answerOf(await fetch(console.url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
  })
  .extend(
    'accept',
    ({ anyone }) =>
      (secret: string, more: object = {}) =>
        anyone('/api/v2/invitations/accept', { secret, name: 'Grace', password: PASSWORD, ...more }),
  )
  .extend('invite', ({ stack, email }) => async (body: object = {}, by: Caller = stack.owner) => {
    const made = await by.post(`${stack.path}/invitations`, { email, ...body })
    expect(outcomeOf(made)).toBe('201')
    return { id: made.body.invitation.id as string, secret: secretOf(made), made }
  })

const secretOf = ({ body }: Answer) => (body.link as string).split('#')[1]!

test('a new user accepts an invitation by its link with a name and a password of their choice, and is signed in', async ({
  console,
  stack,
  fixture,
  email,
  invite,
  anyone,
  accept,
}) => {
  const { secret, made } = await invite({ email: email.toUpperCase(), role: 'Admin' })
  expect(made.body.invitation).toMatchObject({ email, role: 'Admin', invitedBy: stack.owner.id, delivery: 'link' })
  expect(made.body.link).toMatch(/^\/console\/invitation#[\w-]{43}$/)
  const hours = (Date.parse(made.body.invitation.expiresAt) - Date.parse(made.body.invitation.createdAt)) / 3_600_000
  expect(hours).toBe(72)
  expect((await stack.owner.get(`${stack.path}/members`)).body.data).toHaveLength(1)
  const { rows } = await fixture.run('SELECT FROM control.users WHERE email = $1', [email])
  expect(rows).toEqual([])

  const read = await anyone('/api/v2/invitations/read', { secret })
  expect(read.body).toMatchObject({ email, role: 'Admin', organization: expect.any(String) as string })
  const accepted = await accept(secret)
  expect(outcomeOf(accepted)).toBe('201')
  expect(accepted.body).toMatchObject({ email, name: 'Grace', tenants: [{ id: stack.tenant, role: 'Admin' }] })
  expect(accepted.headers.getSetCookie().join()).toMatch(/svc_session=/)
  expect((await signInBy(console.url, email, PASSWORD)).status).toBe(201)
  expect((await stack.owner.get(`${stack.path}/invitations`)).body.data).toEqual([])
  const { body: audit } = await stack.owner.get(`${stack.path}/audit?action=invitation.accept`)
  expect(audit.data).toMatchObject([{ user: accepted.body.id, subject: accepted.body.id }])
})

test('an invitation is accepted once, even by concurrent requests [invalid_request]', async ({ invite, accept }) => {
  const { secret } = await invite()
  const answers = await Promise.all([1, 2, 3].map(() => accept(secret)))
  expect(answers.map(outcomeOf).toSorted()).toEqual(['201', ENDED, ENDED])
  expect(outcomeOf(await accept(secret))).toBe(ENDED)
})

test('a link ends when it is revoked, sent again or older than 72 hours, and looks like one that never was [invalid_request]', async ({
  stack,
  fixture,
  invite,
  anyone,
  accept,
}) => {
  const { id, secret } = await invite()
  const path = `${stack.path}/invitations/${id}`
  const again = await stack.owner.post(`${path}/resend`)
  expect([outcomeOf(again), again.body.invitation.id]).toEqual(['200', id])
  const unknown = await accept('x'.repeat(43))
  expect(outcomeOf(unknown)).toBe(ENDED)
  expect((await accept(secret)).body).toEqual(unknown.body)
  expect((await anyone('/api/v2/invitations/read', { secret })).body).toEqual(unknown.body)

  await fixture.run(`UPDATE control.invitations SET expires_at = now() - interval '1 ms' WHERE id = $1`, [id])
  expect((await accept(secretOf(again))).body).toEqual(unknown.body)
  const third = secretOf(await stack.owner.post(`${path}/resend`))
  expect(outcomeOf(await anyone('/api/v2/invitations/read', { secret: third }))).toBe('200')
  expect(outcomeOf(await stack.owner.delete(path))).toBe('204')
  expect((await accept(third)).body).toEqual(unknown.body)
  expect(outcomeOf(await stack.owner.delete(path))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.post(`${path}/resend`))).toBe('404 not_found')
})

test('the answer to an invitation is the same for an email that the service knows and for one that it does not', async ({
  stack,
  signIn,
}) => {
  const known = await signIn()
  const shape = async (email: string) => {
    const { status, body } = await stack.owner.post(`${stack.path}/invitations`, { email })
    const text = JSON.stringify({ status, body }).replaceAll(email, 'EMAIL').replaceAll(body.invitation.id, 'ID')
    return text.replace(/#[\w-]{43}/, '#').replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, 'TIME')
  }
  expect(await shape(`${known.id}@example.test`)).toBe(await shape(`unknown.${stack.tenant}@example.test`))
})

test('a user who has an account accepts signed in, and the link alone changes nothing of it [already_exists, not_permitted]', async ({
  console,
  stack,
  signIn,
  invite,
  accept,
}) => {
  const known = await signIn()
  const email = `${known.id}@example.test`
  await known.put('/api/v2/me/password', { password: PASSWORD })
  const { secret } = await invite({ email })
  expect(outcomeOf(await accept(secret, { password: 'of the holder of the link' }))).toBe('409 already_exists')
  expect((await signInBy(console.url, email, PASSWORD)).status).toBe(201)

  const foreign = await (await signIn()).post('/api/v2/me/invitations', { secret })
  expect(outcomeOf(foreign)).toBe('403 not_permitted')
  expect(foreign.body.error.message).toContain(`This invitation is for ${email}`)
  const joined = await known.post('/api/v2/me/invitations', { secret })
  expect(outcomeOf(joined)).toBe('201')
  expect(joined.body.tenants).toMatchObject([{ id: stack.tenant, role: 'Member' }])
  expect(outcomeOf(await known.post('/api/v2/me/invitations', { secret }))).toBe(ENDED)
})

test('an email is invited once at a time, and a member not at all [already_exists]', async ({
  stack,
  invite,
  email,
}) => {
  await invite()
  const path = `${stack.path}/invitations`
  expect(outcomeOf(await stack.owner.post(path, { email }))).toBe('409 already_exists')
  const member = await stack.member()
  expect(outcomeOf(await stack.owner.post(path, { email: `${member.id}@example.test` }))).toBe('409 already_exists')
})

test('invitations end with the Admin role of the user who made them, and when that user is disabled [invalid_request]', async ({
  stack,
  signIn,
  email,
  invite,
  accept,
}) => {
  const [demoted, removed] = [await stack.member({ tenant: 'Admin' }), await stack.member({ tenant: 'Admin' })]
  const one = await invite({ role: 'Admin' }, demoted)
  const other = await invite({ role: 'Admin', email: `other.${email}` }, removed)
  await stack.owner.patch(`${stack.path}/members/${demoted.id}`, { role: 'Member' })
  await stack.owner.delete(`${stack.path}/members/${removed.id}`)
  const disabled = await stack.member({ tenant: 'Admin' })
  const third = await invite({ role: 'Admin', email: `third.${email}` }, disabled)
  const operator = await signIn({ platformOperator: true })
  expect(outcomeOf(await operator.post(`/api/v2/users/${disabled.id}/disable`))).toBe('200')
  for (const { secret } of [one, other, third]) expect(outcomeOf(await accept(secret))).toBe(ENDED)
})

test('a repeat under the same Idempotency-Key makes no second invitation and shows no link', async ({
  console,
  stack,
  email,
}) => {
  const headers = {
    Authorization: `Bearer ${stack.owner.token}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': `invite-${stack.tenant}`,
  }
  const post = async () => {
    const body = JSON.stringify({ email })
    return answerOf(await fetch(`${console.url}${stack.path}/invitations`, { method: 'POST', headers, body }))
  }
  const [first, second] = [await post(), await post()]
  expect([outcomeOf(first), outcomeOf(second)]).toEqual(['201', '201'])
  expect(second.body).toMatchObject({ invitation: { id: first.body.invitation.id }, link: null })
  expect(second.body.resolution).toContain('Send the invitation again')
})

test('limits how often an organization writes to an email [rate_limited]', async ({ stack, invite }) => {
  const { id } = await invite()
  const outcomes: string[] = []
  for (let n = 0; n < 5; n++) outcomes.push(outcomeOf(await stack.owner.post(`${stack.path}/invitations/${id}/resend`)))
  expect(outcomes).toEqual(['200', '200', '200', '200', '429 rate_limited'])
})

test('stores no secret of a link, and deletes invitations with their organization', async ({
  stack,
  signIn,
  fixture,
}) => {
  const operator = await signIn({ platformOperator: true })
  const { id } = (await operator.post('/api/v2/tenants', { name: 'Short' })).body
  const made = await operator.post(`/api/v2/tenants/${id}/invitations`, { email: `a.${stack.tenant}@example.test` })
  const rows = async () => (await fixture.run('SELECT * FROM control.invitations WHERE tenant = $1', [id])).rows
  expect(JSON.stringify(await rows())).not.toContain(secretOf(made))
  expect(outcomeOf(await operator.delete(`/api/v2/tenants/${id}`))).toBe('204')
  expect(await rows()).toEqual([])
})
