import { randomBytes } from 'node:crypto'
import { sealContent } from '@gateway/capture/content-keys'
import { expect } from 'vitest'
import { appCode } from '../app-code.ts'
import { sessionSetBy } from '../caller.ts'
import type { ExampleProject, Own } from './example-project.ts'

const at = '/api/v2/tenants/{tenant}'
const project = `${at}/projects/{project}`

/**
 * Extra setup that an example needs on top of the shared project: a resource to delete, another user's credential, or a certain state.
 * Examples don't depend on the order in which they run.
 */
export const preparations: Record<string, (given: ExampleProject) => Promise<Own>> = {
  'POST /api/v2/session': async (given) => ({ ...(await withPassword(given)), secret: null }),
  'POST /api/v2/session/second-factor': async (given) => {
    const { codeOfNext, ...own } = await withSecondFactor(given)
    const begun = await given.send('POST /api/v2/session', { ...own, secret: null })
    const cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!
    return { secret: null, headers: { cookie }, secondFactorCode: codeOfNext() }
  },
  'DELETE /api/v2/session': withSession,
  'DELETE /api/v2/me/sessions': withSession,
  'DELETE /api/v2/me/sessions/{session}': async ({ stack, owner }) => ({
    session: (await stack.fixture.session(owner)).id,
  }),
  'POST /api/v2/me/second-factor': async (given) => ({
    ...(await withPassword(given)),
    ...(await withSession(given)),
    password: '',
  }),
  'POST /api/v2/me/second-factor/confirm': async (given) => {
    const own = await withSession(given)
    return { ...own, secondFactorCode: appCode((await given.make('POST /api/v2/me/second-factor', own)).secret) }
  },
  'POST /api/v2/me/second-factor/recovery-codes': withNextCode,
  'POST /api/v2/me/second-factor/remove': withNextCode,
  'DELETE /api/v2/users/{user}/second-factor': async (given) => ({ user: (await withSecondFactor(given)).user }),
  'GET /api/v2/users': async ({ owner }) => ({ email: `${owner}@example.test` }),
  'POST /api/v2/users/{user}/disable': freshUser,
  'POST /api/v2/users/{user}/enable': freshUser,
  'POST /api/v2/operators': freshUser,
  'DELETE /api/v2/operators/{user}': async ({ stack }) => ({
    user: await stack.fixture.user({ platformOperator: true }),
  }),
  'GET /api/v2/providers': async ({ stack, make }) => {
    await make('POST /api/v2/providers/tests')
    await stack.fixture.run(
      `INSERT INTO money.provider_failures (provider, at, id, model, product, project, invocation, kind, status, code)
       VALUES ('simulated', now(), 'example', 'swift-1', 'acme/swift', 'prj_none', 'inv_none', 'refused', 503, 'overloaded')`,
    )
    return {}
  },
  'PUT /api/v2/me/password': withPassword,
  'POST /api/v2/session/tokens': async ({ make }) => ({
    signInCode: (await make('POST /api/v2/me/sign-in-codes')).code,
  }),
  'DELETE /api/v2/me/tokens/{token}': async ({ make }) => ({ token: (await make('POST /api/v2/me/tokens')).token.id }),

  [`GET ${project}/invocations/{invocation}/content`]: withContent,
  [`DELETE ${at}`]: async ({ make }) => ({ tenant: (await make('POST /api/v2/tenants')).id }),
  'POST /api/v2/session/reset/complete': async (given) => {
    const { email } = await withPassword(given)
    const { link } = await given.make('POST /api/v2/password-resets', { email: email! })
    return { signInCode: secretOf(link) }
  },
  'POST /api/v2/invitations/read': async (given) => ({ signInCode: secretOf((await invited(given)).link) }),
  'POST /api/v2/invitations/accept': async (given) => ({ signInCode: secretOf((await invited(given)).link) }),
  'POST /api/v2/me/invitations': async (given) => {
    const user = await withPassword(given)
    const { link } = await invited(given, { newEmail: user.email! })
    return { ...user, signInCode: secretOf(link) }
  },
  [`POST ${at}/invitations/{invitation}/resend`]: anInvitation,
  [`DELETE ${at}/invitations/{invitation}`]: anInvitation,
  [`PATCH ${at}/members/{user}`]: member,
  [`DELETE ${at}/members/{user}`]: member,
  [`POST ${at}/members/{user}/suspend`]: member,
  [`POST ${at}/members/{user}/resume`]: member,
  [`GET ${at}/budgets`]: aBudget,
  [`DELETE ${at}/budgets/{budget}`]: aBudget,
  [`DELETE ${at}/teams/{team}`]: async ({ make }) => ({ team: (await make(`POST ${at}/teams`)).id }),
  [`DELETE ${at}/teams/{team}/members/{user}`]: async (given) => {
    const own = await member(given)
    await given.make(`POST ${at}/teams/{team}/members`, own)
    return own
  },
  [`GET ${at}/audit`]: byOwner,
  'GET /api/v2/audit': byOwner,
  [`GET ${at}/tokens`]: byOwner,
  [`GET ${at}/webhooks`]: byOwner,
  'GET /api/v2/me/appointments': appointment,
  'DELETE /api/v2/me/appointments/{project}': appointment,
  [`DELETE ${at}/webhooks/{webhook}`]: async ({ make }) => ({
    webhook: (await make(`POST ${project}/webhooks`)).webhook.id,
  }),

  [`DELETE ${project}`]: async ({ make }) => ({ project: (await make(`POST ${at}/projects`)).id }),
  [`DELETE ${project}/grants/{user}`]: async (given) => {
    const own = await member(given)
    await given.make(`POST ${project}/grants`, own)
    return own
  },
  [`DELETE ${project}/assignments/{product}`]: async ({ make }) => {
    const own = { product: (await make('POST /api/v2/products')).id as string }
    await make(`PUT ${project}/assignments/{product}`, own)
    return own
  },
  [`POST ${at}/keys/{key}/revoke`]: issuedKey,
  [`POST ${at}/keys/{key}/rotate`]: issuedKey,
  [`DELETE ${project}/webhooks/{webhook}`]: async ({ make }) => ({
    webhook: (await make(`POST ${project}/webhooks`)).webhook.id,
  }),
  [`POST ${project}/webhooks/{webhook}/rotate`]: async ({ make }) => ({
    webhook: (await make(`POST ${project}/webhooks`)).webhook.id,
  }),
  [`DELETE ${at}/tokens/{token}`]: async ({ make }) => ({
    accessToken: (await make(`POST ${at}/tokens`)).token.id,
  }),
  [`DELETE ${project}/tokens/{token}`]: async ({ make }) => ({
    accessToken: (await make(`POST ${project}/tokens`)).token.id,
  }),
  [`DELETE ${at}/assets/{asset}`]: async ({ make }) => ({ asset: (await make(`POST ${project}/assets`)).id }),

  'POST /v1/sandbox/{id}/mcp': async () => ({ headers: { accept: 'application/json, text/event-stream' } }),
  'POST /v1/sandbox/{id}/executions/{execution}/cancel': executionUnderWay,
  [`POST ${project}/executions/{execution}/cancel`]: executionUnderWay,
}

function byOwner({ owner }: ExampleProject): Promise<Own> {
  return Promise.resolve({ user: owner })
}

/** A project whose owner is to be appointed, as if it had lost its owner before. */
async function appointment({ stack, names, owner, make }: ExampleProject): Promise<Own> {
  const { id } = await make(`POST ${at}/projects`)
  await stack.fixture.run(
    `INSERT INTO control.owner_appointments (project, tenant, user_id, appointed_by, effective_at)
     VALUES ($1, $2, $3, $3, now() + interval '3 days')`,
    [id, names.tenant, owner],
  )
  return { project: id }
}

async function aBudget({ make }: ExampleProject): Promise<Own> {
  return { budget: (await make(`PUT ${at}/budgets`)).id as string }
}

/** A new user who has accepted an invitation. */
async function member(given: ExampleProject): Promise<{ user: string }> {
  const { link } = await invited(given)
  return { user: (await given.make('POST /api/v2/invitations/accept', { signInCode: secretOf(link) })).id as string }
}

// oxlint-disable-next-line typescript/no-explicit-any -- an API response, as a client sees it
async function invited({ make }: ExampleProject, own: Own = {}): Promise<any> {
  return make(`POST ${at}/invitations`, own)
}

async function anInvitation(given: ExampleProject): Promise<Own> {
  return { invitation: (await invited(given)).invitation.id as string }
}

/** The secret in a link. */
const secretOf = (link: string): string => link.split('#')[1]!

async function issuedKey({ make }: ExampleProject): Promise<Own> {
  return { key: (await make(`POST ${at}/keys`)).key.id }
}

async function freshUser({ stack }: ExampleProject): Promise<Own> {
  return { user: await stack.fixture.user() }
}

/** A new user with a session. */
async function withSession({ stack: { fixture } }: ExampleProject): Promise<Own> {
  return { secret: (await fixture.session(await fixture.user())).secret }
}

/** A session of the owner with the right to read content, and content of the call. */
async function withContent({ stack: { fixture }, owner, names, make }: ExampleProject): Promise<Own> {
  await make(`PATCH ${project}`)
  const { project: id, invocation } = names as Required<typeof names>
  const { rows } = await fixture.run('SELECT capture FROM control.projects WHERE id = $1', [id])
  const { publicKey } = rows[0]!['capture'] as { publicKey: string }
  const content = {
    request: { messages: [{ role: 'user', content: 'Write to [email] about the offer.' }] },
    answer: [{ role: 'assistant', content: 'Dear customer, …' }],
    failure: null,
    isCut: false,
  }
  const sealed = await sealContent(publicKey, { project: id, invocation }, content)
  await fixture.run(
    `INSERT INTO money.captured_content (invocation, project, at, sealed) VALUES ($1, $2, clock_timestamp(), $3)
     ON CONFLICT DO NOTHING`,
    [invocation, id, sealed],
  )
  await fixture.run('UPDATE control.project_grants SET reads_content = true WHERE user_id = $1', [owner])
  return { secret: (await fixture.session(owner)).secret }
}

/** A new user with an authenticator app, and a code of it that was not used yet. */
async function withNextCode(given: ExampleProject): Promise<Own> {
  const { codeOfNext, ...own } = await withSecondFactor(given)
  return { ...own, secondFactorCode: codeOfNext() }
}

/** A new user with a password, a session and an authenticator app. */
async function withSecondFactor(given: ExampleProject) {
  const { fixture } = given.stack
  const user = await projectOwner(given)
  const password = await setPassword(given, (await fixture.token(user)).secret)
  const before = (await fixture.session(user)).secret
  const app = (await given.make('POST /api/v2/me/second-factor', { secret: before, password })).secret as string
  const code = { secret: before, secondFactorCode: appCode(app) }
  const secret = sessionSetBy(await given.send('POST /api/v2/me/second-factor/confirm', code))
  return { user, secret, password, email: `${user}@example.test`, codeOfNext: () => appCode(app, 1) }
}

/** A new user who owns a project. */
async function projectOwner({ stack: { fixture } }: ExampleProject): Promise<string> {
  const tenant = await fixture.tenant()
  await fixture.project(tenant)
  return tenant.owner
}

/** A new user with a password. */
async function withPassword(given: ExampleProject): Promise<Own> {
  const { fixture } = given.stack
  const user = await projectOwner(given)
  const { secret } = await fixture.token(user)
  return { secret, email: `${user}@example.test`, password: await setPassword(given, secret) }
}

/** Sets the first password of the token's user. */
async function setPassword({ stack: { gateways } }: ExampleProject, secret: string): Promise<string> {
  const password = `a sentence of ${randomBytes(6).toString('hex')}`
  const answer = await fetch(`${gateways[0]!.url}/api/v2/me/password`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  })
  if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`)
  return password
}

/** An execution whose call is held at the provider. */
async function executionUnderWay({ stack, names, send, make }: ExampleProject): Promise<Own> {
  const { fixture, provider } = stack
  const newest = async () => {
    const text = 'SELECT id FROM money.executions WHERE project = $1 ORDER BY created_at DESC LIMIT 1'
    return ((await fixture.run(text, [names.project])).rows as { id: string }[])[0]!.id
  }
  const before = await newest()
  await provider.control.setFaults([{ prompt: 'Write about otters.', hold: true, times: 1 }])
  void send('POST /v1/sandbox/{id}/invoke').catch(() => {})
  await expect.poll(newest).not.toBe(before)
  const own = { execution: await newest() }
  const calls = async () => (await make(`GET ${project}/executions/{execution}`, own)).childCalls
  await expect.poll(calls).toEqual([expect.any(String)]) // its call, not one that another test left under way
  return own
}
