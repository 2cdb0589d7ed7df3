import { randomBytes } from 'node:crypto'
import type { ExampleProject, Own } from './example-project.ts'

const at = '/api/v2/tenants/{tenant}'
const project = `${at}/projects/{project}`

/**
 * Extra setup that an example needs on top of the shared project: a resource to delete, another user's credential, or a certain state.
 * Examples don't depend on the order in which they run.
 */
export const preparations: Record<string, (given: ExampleProject) => Promise<Own>> = {
  'POST /api/v2/session': async (given) => ({ password: await setPassword(given, given.user) }),
  'DELETE /api/v2/session': async (given) => {
    const signedIn = await given.send('POST /api/v2/session', await withPassword(given))
    return { secret: null, headers: { cookie: signedIn.headers.getSetCookie()[0]!.split(';')[0]! } }
  },
  'PUT /api/v2/me/password': withPassword,
  'POST /api/v2/session/tokens': async ({ make }) => ({
    signInCode: (await make('POST /api/v2/me/sign-in-codes')).code,
  }),
  'DELETE /api/v2/me/tokens/{token}': async ({ make }) => ({ token: (await make('POST /api/v2/me/tokens')).token.id }),

  [`DELETE ${at}`]: async ({ make }) => ({ tenant: (await make('POST /api/v2/tenants')).id }),
  [`DELETE ${at}/members/{user}`]: member,
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

async function member({ make }: ExampleProject): Promise<{ user: string }> {
  return { user: (await make(`POST ${at}/members`)).id as string }
}

async function issuedKey({ make }: ExampleProject): Promise<Own> {
  return { key: (await make(`POST ${at}/keys`)).key.id }
}

/** A new user with a password. */
async function withPassword(given: ExampleProject): Promise<Own> {
  const { fixture } = given.stack
  const user = await fixture.user()
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
async function executionUnderWay({ stack, names, send }: ExampleProject): Promise<Own> {
  const { fixture, provider } = stack
  const [prompt, before] = ['Write about otters.', await provider.control.countCalls()]
  await provider.control.setFaults([{ prompt, hold: true, times: 1 }])
  void send('POST /v1/sandbox/{id}/invoke').catch(() => {})
  await provider.control.waitForCalls(before + 1)
  const newest = 'SELECT id FROM money.executions WHERE project = $1 ORDER BY created_at DESC LIMIT 1'
  const { rows } = await fixture.run(newest, [names.project])
  return { execution: (rows as { id: string }[])[0]!.id }
}
