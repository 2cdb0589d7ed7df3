import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { userScopes } from '@gateway/api/console/scopes'
import { SHOWN_CHARACTERS } from '@gateway/api/ids'
import { plantSecrets, type PlantedSecret } from '@gateway/testbed/planted-secrets'
import { callerAt, said, type Answer, type Caller } from './src/caller.ts'
import { chattyStackTest } from './src/chatty-stack-test.ts'
import type { ProcessStack, TenantFixture } from './src/stack.ts'

// Exercises every operation that takes a secret, including many failures, then searches for each secret in everything the stack
// has stored, logged, sent or answered (architecture §S2).

const messages = (content: string) => [{ role: 'user', content }]
const price = { unit: 'tokens', prompt: '0.000001', completion: '0.000001' }
const model = {
  kind: 'chat',
  name: 'Canary',
  ownedBy: 'acme',
  state: 'published',
  contextLength: 8_000,
  maxOutputTokens: 1_000,
}

const test = chattyStackTest
  .extend('traceContent', { scope: 'file' }, () => true)
  /** What both uses of secrets leave behind once every service has stopped, and so has sent all its traces. */
  .extend('left', { scope: 'file' }, async ({ stack, places }) => {
    const shown = await fullExecution(stack)
    const misplaced = await misplaceCredentials(stack)
    for (const program of [...stack.gateways, ...stack.workers, stack.console!, ...stack.ledgers]) await program.stop()
    const found = await places()
    for (const service of ['ledger', 'gateway', 'worker', 'console'])
      expect(found['files and logs']).toContain(`"service":"${service}"`)
    return { shown, misplaced, places: found }
  })

// spec: 2.1/r2, 2.1/r3, 3.2/s3
test('a secret appears only in the response that shows it once', ({ left }) => {
  const { secrets, answers, seen } = left.shown
  const places = { ...left.places, answers: answers.join('\n') }
  // A known value proves that each place was searched.
  expect(places['Postgres, every row']).toContain(seen.project)
  expect(places['Postgres, every statement']).toContain('money.run_batch')
  expect(places['Redis, every command']).toMatch(/p?subscribe/i)
  expect(places['files and logs']).toContain('provider attempt failed')
  expect(places.traces).toContain('POST /v1/chat/completions')
  expect(places.metrics).toContain('gateway.refusals')
  expect(places.answers).toContain('key_invalid')
  const found = Object.entries(places).flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      formsIn(text, secret).map((form) => `${name}, ${form}, in ${place}`),
    ),
  )
  expect(found).toEqual([])
  const sizes = Object.entries(places).map(([place, text]) => `${place}: ${text.length} characters`)
  console.log(`${Object.keys(secrets).length} secrets, each in six forms, looked for in\n  ${sizes.join('\n  ')}`)
})

// A caller pastes a key into a prompt, a provider repeats one in its error, an operator of a flow names a model by it.
test('a credential that stands where it does not belong is in no log, trace, error response or audit', ({ left }) => {
  const { planted, refused, audit } = left.misplaced
  const { 'files and logs': logs, traces, metrics } = left.places
  const places = { logs, traces, metrics, 'error responses': refused.join('\n'), audit: JSON.stringify(audit) }
  expect(places.logs).toContain('provider attempt failed')
  expect(places.traces).toContain('gen_ai.input.messages')
  expect(places.audit).toContain('Paid with')
  const found = Object.entries(places).flatMap(([place, text]) =>
    // A caller may read back the name that it gave, which no form tells from a word.
    planted.flatMap(({ kind, secret, byName }) =>
      (byName === undefined || place !== 'error responses') && formsIn(text, secret).length > 0
        ? [`${kind} in ${place}`]
        : [],
    ),
  )
  expect(found).toEqual([])
})

/** Puts credentials where they do not belong. Returns them, and every error response. */
async function misplaceCredentials(stack: ProcessStack) {
  const planted = plantSecrets()
  const tenant = await stack.tenant(100_000_000n)
  const { ask } = callerAt(stack.gateways[0]!.url, tenant.key.secret)
  const refused: string[] = []
  const chat = async (body: object, headers: Record<string, string> = {}) => {
    const usual = { model: tenant.model, messages: messages('Hello'), max_tokens: 20 }
    const answer = await ask('POST', '/v1/chat/completions', { ...usual, ...body }, headers)
    if (answer.status >= 400) refused.push(`${[...answer.headers].join('\n')}\n${answer.text}`)
    return answer.status
  }
  for (const { text, byName } of planted) {
    const named = byName === undefined ? text : `${byName}: ${text}`
    const inLine = text.replaceAll('\n', ' ')
    expect(await chat({ messages: messages(`Say this:\n${named}`) })).toBe(200)
    expect(await chat({ model: `acme/${inLine}` })).toBeGreaterThan(399)
    expect(await chat({ model: `sbx-${inLine}` })).toBeGreaterThan(399)
    const invoked = await ask('POST', `/v1/sandbox/${encodeURIComponent(inLine)}/invoke`, { input: {} })
    expect(invoked.status).toBeGreaterThan(399)
    refused.push(invoked.text)
    expect(await chat({ [inLine]: 1 })).toBe(400)
    expect(await chat({ temperature: named })).toBe(400)
    expect(await chat({ messages: [{ role: named, content: named }] })).toBe(400)
    await chat({}, { 'x-note': inLine, 'idempotency-key': inLine.slice(0, 200) })
    refused.push((await ask('GET', `/v1/models/${encodeURIComponent(inLine)}?key=${encodeURIComponent(text)}`)).text)
    const body = { error: { message: `Incorrect key.\n${named}`, code: text, [byName ?? 'detail']: text } }
    await stack.provider.control.setFaults([{ prompt: 'Fault', status: 500, body, headers: { 'x-echo': inLine } }])
    expect(await chat({ messages: messages('Fault') })).toBeGreaterThan(399)
    await stack.provider.control.clearFaults()
  }
  await askConsole(stack, tenant, planted, refused)
  const audit = await stack.fixture.run('SELECT to_jsonb(a) AS row FROM control.audit a')
  return { planted, refused, audit: audit.rows }
}

/** Sends secrets to the console in fields and headers that its audit log repeats, and in wrong ones. Adds what it refuses. */
async function askConsole(
  { fixture, gateways }: ProcessStack,
  { owner, project, key }: TenantFixture,
  planted: readonly PlantedSecret[],
  refused: string[],
): Promise<void> {
  const callerOf = async (user: string) => callerAt(gateways[0]!.url, (await fixture.token(user)).secret)
  const [admin, operator] = [await callerOf(owner), await callerOf(await fixture.user({ platformOperator: true }))]
  const path = `/api/v2/tenants/${project.tenant}`
  for (const { text, byName } of planted) {
    if (byName !== undefined) continue
    const inLine = text.replaceAll('\n', ' ')
    const device = { 'user-agent': inLine }
    const correction = { correctionId: randomUUID(), micro: 1, reason: `Paid with ${inLine}` }
    for (const [status, answer] of [
      [201, await operator.ask('POST', `${path}/projects/${project.id}/wallet/corrections`, correction, device)],
      [200, await admin.ask('PATCH', `${path}/keys/${key.id}`, { name: inLine.slice(0, 100) }, device)],
      [400, await admin.ask('PATCH', `${path}/keys/${key.id}`, { name: 'x', [inLine]: 1 })],
      [
        404,
        await admin.ask('POST', `${path}/projects/${project.id}/executions/${encodeURIComponent(inLine)}/rerun`, {
          from: 'draft',
        }),
      ],
      [404, await admin.ask('GET', `${path}/keys/${encodeURIComponent(inLine)}?${encodeURIComponent(inLine)}=1`)],
      [
        401,
        await admin.ask('POST', '/api/v2/session', { email: `${randomUUID()}@example.test`, password: inLine }, device),
      ],
    ] as const) {
      expect(answer.status).toBe(status)
      if (status >= 400) refused.push(`${[...answer.headers].join('\n')}\n${answer.text}`)
    }
  }
}

/** Uses every kind of secret correctly and incorrectly. Returns the secrets, and every response except those that show one. */
async function fullExecution(stack: ProcessStack) {
  const { fixture, provider } = stack
  const url = stack.gateways[0]!.url
  const answers: string[] = []
  const keep = (answer: Answer) => {
    answers.push(`${answer.status}\n${[...answer.headers].join('\n')}\n${answer.text}`)
    return answer
  }
  const by =
    (secret: string | null): Caller['ask'] =>
    async (...asked) =>
      keep(await callerAt(url, secret).ask(...asked))
  /** Calls an operation that shows a secret, and records the response without it. */
  const revealing = async (
    caller: string,
    asked: string,
    body: object,
    status = '201',
  ): Promise<{ secret: string; key: { id: string } }> => {
    const [method = '', path = ''] = asked.split(' ')
    const answer = await callerAt(url, caller).ask(method, path, body)
    expect(said(answer)).toBe(status)
    answers.push(answer.text.replace(answer.body.secret, ''))
    return answer.body
  }

  // Users: a password, a session, personal tokens.
  const operatorToken = (await fixture.token(await fixture.user({ platformOperator: true }))).secret
  const operator = by(operatorToken)
  const tenant = (await operator('POST', '/api/v2/tenants', { name: 'Canary' })).body.id as string
  const path = `/api/v2/tenants/${tenant}`
  const email = `canary-${randomBytes(4).toString('hex')}@example.test`
  const [password, newPassword] = [`pass-${randomUUID()}`, `pass-${randomUUID()}`]
  const invited = await callerAt(url, operatorToken).ask('POST', `${path}/invitations`, { email, role: 'Admin' })
  const linkSecret = (invited.body.link as string).split('#')[1]!
  answers.push(invited.text.replace(linkSecret, ''))
  keep(await callerAt(url, null).ask('POST', '/api/v2/invitations/read', { secret: linkSecret }))
  keep(
    await callerAt(url, null).ask('POST', '/api/v2/invitations/accept', {
      secret: linkSecret,
      name: 'Canary',
      password,
    }),
  )
  await by(null)('POST', '/api/v2/session', { email, password: newPassword })
  await by(null)('POST', '/api/v2/session', { email: password, password }) // password in the email field
  const signedIn = await callerAt(url, null).ask('POST', '/api/v2/session', { email, password })
  expect(said(signedIn)).toBe('201')
  answers.push(signedIn.text)
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const session = cookie.split('=')[1]!
  const [, device = ''] = /svc_device=([\w-]+)/.exec(signedIn.headers.getSetCookie().join('; '))!
  const browser = async (method: string, at: string, body?: object) =>
    callerAt(url, null).ask(method, at, body, { cookie, 'sec-fetch-site': 'same-origin', origin: url })
  const newToken = async (asks: typeof browser) =>
    (await asks('POST', '/api/v2/me/tokens', { name: 'CI', scopes: userScopes })).body.secret as string
  const before = by(await newToken(browser))
  keep(await browser('GET', '/api/v2/me'))
  await before('PUT', '/api/v2/me/password', { password: newPassword, current: `wrong-${password}` })
  await before('PUT', '/api/v2/me/password', { password: 5, current: password })
  expect(said(await before('PUT', '/api/v2/me/password', { password: newPassword, current: password }))).toBe('204')
  const again = await callerAt(url, null).ask('POST', '/api/v2/session', { email, password: newPassword })
  answers.push(again.text)
  const newSession = again.headers.get('set-cookie')!.split(/[=;]/)[1]!
  const token = await newToken(async (method, at, body) => callerAt(url, newSession).ask(method, at, body))
  const admin = by(token)
  await rawPost(url, '/api/v2/session', `{"email":"${email}","password":"${newPassword}`, answers)

  // A project, a product, keys.
  const team = (await admin('POST', `${path}/teams`, { name: 'Canary' })).body.id as string
  const project = (await admin('POST', `${path}/projects`, { name: 'Canary', team })).body.id as string
  const product = `acme/${randomBytes(5).toString('hex')}`
  const providers = [{ provider: 'simulated', model: 'sim', priority: 1 }]
  await operator('POST', '/api/v2/products', { id: product, ...model, pricing: price, providers })
  await admin('PUT', `${path}/projects/${project}/assignments/${encodeURIComponent(product)}`)
  await operator('POST', `${path}/projects/${project}/wallet/fundings`, { fundingId: 'canary', micro: 10_000_000 })
  const first = await revealing(token, `POST ${path}/keys`, { project, limit: { micro: 5_000_000, reset: 'daily' } })
  const second = await revealing(token, `POST ${path}/keys/${first.key.id}/rotate`, { graceSeconds: 600 })
  const third = await revealing(second.secret, `POST ${path}/keys/${second.key.id}/rotate`, { graceSeconds: 600 })
  for (const at of ['keys', `keys/${first.key.id}`, 'audit', 'members', `projects/${project}/usage?by=key`])
    expect(said(await admin('GET', `${path}/${at}`))).toBe('200')

  // Every kind of call. The provider repeats its own key in a response.
  const chat = (secret: string, more: object = {}, headers: Record<string, string> = {}) =>
    by(secret)(
      'POST',
      '/v1/chat/completions',
      { model: product, messages: messages('Hello'), max_tokens: 20, ...more },
      headers,
    )
  for (const { secret } of [first, second, third]) {
    for (const at of ['/v1/models', `/v1/models/${product}`, '/v1/key'])
      expect(said(await by(secret)('GET', at))).toBe('200')
    expect(said(await chat(secret))).toBe('200')
    expect(said(await chat(secret, { stream: true, stream_options: { include_usage: true } }))).toBe('200')
  }
  const keyed = { 'idempotency-key': randomUUID() }
  const copies = await Promise.all([1, 2, 3].map(() => chat(third.secret, { messages: messages('Copies') }, keyed)))
  expect(copies.map(said)).toEqual(['200', '200', '200'])
  const formatKey = { error: { message: `Incorrect API key provided: ${stack.providerKey}`, code: stack.providerKey } }
  for (const status of [401, 400, 429, 500]) {
    await provider.control.setFaults([
      { prompt: `Fault ${status}`, status, body: formatKey, headers: { 'x-echo': stack.providerKey } },
    ])
    for (const stream of [false, true])
      expect((await chat(third.secret, { stream, messages: messages(`Fault ${status}`) })).status).toBeGreaterThan(399)
  }
  await provider.control.setFaults([{ prompt: 'Fault in JSON', status: 200, body: stack.providerKey }])
  await chat(third.secret, { messages: messages('Fault in JSON') })
  await provider.control.clearFaults()

  // Credentials in the wrong place.
  const { secret } = third
  await by(null)('GET', `/v1/models?key=${secret}&token=${token}`)
  await by(null)('GET', `/api/v2/me?token=${token}`)
  await by(token)('GET', '/v1/models')
  await by(secret)('GET', '/api/v2/me')
  await by(`${secret.slice(0, -1)}0`)('GET', '/v1/key')
  await by(`${token.slice(0, -1)}0`)('GET', '/api/v2/me')
  await chat(secret, { metadata: { key: secret }, user: secret })
  await chat(secret, { messages: 5, temperature: secret })
  await rawPost(url, '/v1/chat/completions', `{"model":"${secret}`, answers, secret)
  const misplaced: Record<string, string>[] = [
    { authorization: `Basic ${btoa(`x:${secret}`)}` },
    { authorization: secret },
    { 'x-api-key': secret },
  ]
  for (const headers of misplaced) keep(await callerAt(url, null).ask('GET', '/v1/models', undefined, headers))

  // Every failure is logged: connections to Postgres and Redis are cut, and the ledger is down.
  await fixture.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  )
  await chat(secret)
  await admin('GET', `${path}/keys`)
  await stack.ledgers[0]!.kill()
  expect(said(await by(secret)('GET', '/v1/key'))).toBe('503 unavailable')
  await admin('POST', `${path}/keys/${first.key.id}/revoke`)
  await stack.ledgers[0]!.start()
  await admin('POST', `${path}/keys/${first.key.id}/revoke`)
  expect(said(await by(first.secret)('GET', '/v1/key'))).toBe('401 key_revoked')

  const secrets = {
    'the operator’s token': operatorToken.slice(SHOWN_CHARACTERS),
    'a personal token': token.slice(SHOWN_CHARACTERS),
    'a session': session.slice(SHOWN_CHARACTERS),
    'the link of an invitation': linkSecret,
    'the secret of a device': device,
    'a password': password,
    'a new password': newPassword,
    'a key': first.secret.slice(SHOWN_CHARACTERS),
    'a replacement': second.secret.slice(SHOWN_CHARACTERS),
    'a second replacement': secret.slice(SHOWN_CHARACTERS),
    'the gateway’s private key': stack.secrets.gateway.split('\n')[1]!,
    'the console’s private key': stack.secrets.console.split('\n')[1]!,
    'the worker’s private key': stack.secrets.worker.split('\n')[1]!,
    'a service token': 'eyJhbGciOiJFZERTQSIs',
    'the provider’s key': stack.providerKey,
    'the ledger’s password of Postgres': 'ledger-in-tests',
    'the console’s password of Postgres': 'console-in-tests',
  }
  return { secrets, answers, seen: { project } }
}

/** Posts a truncated body byte for byte. */
async function rawPost(url: string, path: string, body: string, answers: string[], secret?: string): Promise<void> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(secret && { authorization: `Bearer ${secret}` }) },
    body,
  })
  expect(answer.status).toBe(400)
  answers.push(await answer.text())
}

/** Encodings of a secret found in a text: plain, hexadecimal, or base64 at any of its three offsets. */
function formsIn(text: string, secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), -4),
  )
  const forms: [string, string[]][] = [
    ['as it is', [secret, encodeURIComponent(secret)]],
    ['in hexadecimal', [bytes.toString('hex')]],
    ['in base64', base64.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])],
  ]
  return forms.flatMap(([form, all]) => (all.some((one) => text.includes(one)) ? [form] : []))
}
