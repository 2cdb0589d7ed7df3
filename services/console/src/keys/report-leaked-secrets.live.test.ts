import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { ACCESS_TOKEN_PREFIX, KEY_SECRET_PREFIX, makeSecret, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { answerOf, callerOf, consoleTest as base, outcomeOf, uniqueAddress } from '../console.fixture.ts'

const PATH = '/api/v2/leaked-secrets'
const url = 'https://github.com/octo/repository/blob/main/.env'

const test = base.extend('report', ({ console }) => {
  return async (body: unknown, address = uniqueAddress()) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
    return answerOf(await fetch(console.url + PATH, { method: 'POST', headers, body: JSON.stringify(body) }))
  }
})

test('a reported key is revoked before the response, audited, and an alert with the place it was found', async ({
  stack,
  console,
  report,
}) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const answer = await report([{ token: secret, type: 'model_gateway_key', url, source: 'commit' }])
  expect(answer).toMatchObject({ status: 200, body: { received: 1 } })
  const self = await callerOf(console.url, '', secret).post(`${stack.path}/keys/${key.id}/rotate`)
  expect(outcomeOf(self)).toBe('401 key_revoked')
  const details = { location: url, source: 'commit' }
  const [row] = (await stack.owner.get(`${stack.path}/audit?limit=1`)).body.data
  expect(row).toMatchObject({ action: 'key.leak', user: null, subject: key.id, details })
  const notices = async () => (await stack.owner.get(`${stack.projectPath}/notices`)).body.data
  await expect.poll(notices).toMatchObject([{ kind: 'key.leaked', key: key.id, open: true, details }])
})

test('the answer is the same for active, revoked, unknown, malformed and foreign secrets', async ({
  stack,
  report,
}) => {
  const create = async () => (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const [active, ended] = [await create(), await create()]
  await stack.owner.post(`${stack.path}/keys/${ended.key.id}/revoke`)
  const unknown = makeSecret(KEY_SECRET_PREFIX, randomBytes(32))
  const foreign = 'ghp_0123456789abcdef0123456789abcdef0123'
  for (const token of [active.secret, ended.secret, unknown, `${unknown.slice(0, -1)}!`, foreign, 'x'])
    expect(await report({ token })).toMatchObject({ status: 200, body: { received: 1 } })
})

test('a token of an organization, of a project or of a user, or a session, is deleted when it is reported [token_invalid]', async ({
  stack,
  fixture,
  signIn,
  console,
  report,
}) => {
  const make = async (path: string, permissions: string[]) =>
    (await stack.owner.post(`${path}/tokens`, { name: 'CI', permissions })).body
  const ofTenant = await make(stack.path, ['audit.read'])
  const ofProject = await make(stack.projectPath, ['sandboxes.use'])
  const user = await signIn({ id: stack.owner.id })
  const { secret: session } = await fixture.session(stack.owner.id)
  const tokens = [ofTenant.secret, ofProject.secret, user.token, session]
  expect(await report(tokens.map((token) => ({ token, url })))).toMatchObject({ body: { received: 4 } })
  for (const token of tokens)
    expect(outcomeOf(await callerOf(console.url, '', token).get('/api/v2/me'))).toMatch(
      /^401 (token_invalid|session_missing)$/,
    )
  const audit = (await stack.owner.get(`${stack.path}/audit?action=access-token.leak`)).body.data
  expect(audit.map(({ subject }: { subject: string }) => subject)).toEqual([ofProject.token.id, ofTenant.token.id])
  const own = await stack.fixture.run(
    `SELECT tenant, details FROM control.audit WHERE action = 'token.leak' AND details->>'user' = $1 ORDER BY id`,
    [stack.owner.id],
  )
  const leak = { details: { user: stack.owner.id, location: url } }
  expect(own.rows).toEqual([
    { tenant: null, ...leak },
    { tenant: stack.tenant, ...leak },
  ])
  const again = await signIn({ id: stack.owner.id })
  for (const action of ['token.leak', 'session.leak'])
    expect((await again.get(`/api/v2/me/audit?action=${action}`)).body.data).toMatchObject([{ user: null, ...leak }])
  const other = await signIn()
  expect((await other.get('/api/v2/me/audit?action=token.leak')).body.data).toEqual([])
  const notices = async () => (await stack.owner.get(`${stack.projectPath}/notices`)).body.data
  await expect
    .poll(notices)
    .toMatchObject([{ kind: 'token.leaked', key: null, details: { token: ofProject.token.id } }])
})

test('a reported key in its grace period is revoked, one past it only raises an alert that names its replacement, once', async ({
  stack,
  report,
}) => {
  const create = async () => (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const [inGrace, past] = [await create(), await create()]
  const rotate = async (id: string, graceSeconds: number) =>
    (await stack.owner.post(`${stack.path}/keys/${id}/rotate`, { graceSeconds })).body.key
  const [nextInGrace, nextPast] = [await rotate(inGrace.key.id, 3_600), await rotate(past.key.id, 0)]
  for (let n = 0; n < 2; n++) await report([{ token: inGrace.secret }, { token: past.secret }])
  const leaks = async () => {
    const { body } = await stack.owner.get(`${stack.projectPath}/notices`)
    const all = body.data as { kind: string; key: string; details: { replacement?: string } }[]
    const found = all.filter(({ kind }) => kind === 'key.leaked')
    return found.map(({ key, details }) => `${key} ${details.replacement}`).toSorted()
  }
  const expected = [`${inGrace.key.id} ${nextInGrace.id}`, `${past.key.id} ${nextPast.id}`].toSorted()
  await expect.poll(leaks).toEqual(expected)
  const states = await Promise.all(
    [inGrace.key, past.key, nextInGrace, nextPast].map(
      async ({ id }) => (await stack.owner.get(`${stack.path}/keys/${id}`)).body.state,
    ),
  )
  expect(states).toEqual(['Revoked', 'Rotated', 'Active', 'Active'])
})

// spec: 2.1/r9
test('a legacy key is not revoked when it is reported', async ({ stack, fixture, report }) => {
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  await report({ token: legacy.secret })
  expect((await stack.owner.get(`${stack.path}/keys/${legacy.id}`)).body.state).toBe('NeedsReissue')
})

test('the place of a leak is cut to 500 characters and loses control characters', async ({ stack, report }) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const place = `https://example.com/\u0000\u001b[31m${'a'.repeat(2_000)}`
  expect(await report({ token: secret, url: place, source: '\ud800' })).toMatchObject({ status: 200 })
  const [row] = (await stack.owner.get(`${stack.path}/audit?subject=${key.id}&action=key.leak`)).body.data
  expect(row.details.location).toMatch(/^https:\/\/example\.com\/\[31ma+$/)
  expect(row.details.location.length).toBeLessThanOrEqual(500)
})

test.for([
  [[], '400 invalid_request'],
  [{}, '400 invalid_request'],
  [[{ token: 7 }], '400 invalid_request'],
  [Array.from({ length: 101 }, () => ({ token: 'x' })), '400 invalid_request'],
  [[{ token: 'x', url: 'a'.repeat(65_536) }], '413 request_too_large'],
] as const)(
  'rejects a report without readable secrets, or with too many, and changes nothing: %#',
  async ([body, refusal], { report }) => {
    expect(outcomeOf(await report(body))).toBe(refusal)
  },
)

test('reports of an address are limited per minute, and those of other addresses are not [rate_limited]', async ({
  report,
}) => {
  const address = uniqueAddress()
  const answers = []
  for (let n = 0; n < 61; n++) answers.push(await report({ token: 'x' }, address))
  expect(answers.slice(0, 60).every(({ status }) => status === 200)).toBe(true)
  expect(outcomeOf(answers[60]!)).toBe('429 rate_limited')
  expect((await report({ token: 'x' })).status).toBe(200)
})

test('a key that is reported and rotates itself at the same moment leaves no working secret unnoticed', async ({
  stack,
  console,
  report,
}) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const [rotated] = await Promise.all([
    callerOf(console.url, '', secret).post(`${stack.path}/keys/${key.id}/rotate`, { graceSeconds: 60 }),
    report({ token: secret }),
  ])
  const { state } = (await stack.owner.get(`${stack.path}/keys/${key.id}`)).body
  expect(state).toBe('Revoked')
  if (rotated.status !== 201) return
  const leak = async () => {
    const { body } = await stack.owner.get(`${stack.projectPath}/notices`)
    return body.data.find(({ kind }: { kind: string }) => kind === 'key.leaked')?.details.replacement
  }
  await expect.poll(leak).toBe(rotated.body.key.id)
})

test('secret scanners recognize all secrets of this service by the documented pattern', () => {
  const documented = /\bsv[cuts]_[0-9A-Za-z]{49}\b/
  for (const prefix of [KEY_SECRET_PREFIX, USER_TOKEN_PREFIX, ACCESS_TOKEN_PREFIX] as const)
    expect(`export KEY="${makeSecret(prefix, randomBytes(32))}"`).toMatch(documented)
})
