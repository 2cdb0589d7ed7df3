import { usd } from '@gateway/pricing/usd'
import type { StackKind } from '@gateway/testbed/stack-test'
import { expect } from 'vitest'
import { mintId } from '@gateway/api/ids'
import { randomBytes } from 'node:crypto'
import { callerOf, join, outcomeOf, untilBlocked } from '../console.fixture.ts'
import { callsTest } from './calls.fixture.ts'

const test = callsTest.extend('kind', { scope: 'file' }, (): StackKind => 'own') // one test stops the ledger

// spec: can/wallet
test('funds a wallet once per funding ID [already_exists]', async ({ stack, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const path = `${stack.projectPath}/wallet/fundings`
  const first = await operator.post(path, { fundingId: 'invoice-1', micro: 2_500_000 })
  expect(outcomeOf(first)).toBe('201')
  expect(first.body).toEqual({ fundedMicro: 2_500_000, reservedMicro: 0, settledMicro: 0, availableMicro: 2_500_000 })
  const repeated = await operator.post(path, { fundingId: 'invoice-1', micro: 2_500_000 })
  expect([outcomeOf(repeated), repeated.body]).toEqual(['200', first.body])
  expect(outcomeOf(await operator.post(path, { fundingId: 'invoice-1', micro: 1 }))).toBe('409 already_exists')
  const { body } = await stack.owner.get(`${stack.path}/audit`)
  expect(body.data.filter(({ action }: { action: string }) => action === 'wallet.fund')).toHaveLength(1)
})

test.for([
  { micro: 0 },
  { micro: 1.5 },
  { micro: -1 },
  { micro: 2 ** 53 },
  { micro: '5' },
  { fundingId: '' },
  { fundingId: 'ä' },
])('rejects a funding with %j [invalid_request]', async (more, { stack, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const answer = await operator.post(`${stack.projectPath}/wallet/fundings`, { fundingId: 'x', micro: 1, ...more })
  expect(outcomeOf(answer)).toBe('400 invalid_request')
})

test('applies a correction once per correction ID, and audits it with its reason [already_exists]', async ({
  stack,
  tenant: { operator },
}) => {
  const path = `${stack.projectPath}/wallet/corrections`
  const correction = { correctionId: 'incident-7', micro: -1_000, reason: 'A funding that came in twice.' }
  const first = await operator.post(path, correction)
  expect([outcomeOf(first), first.body.availableMicro]).toEqual(['201', 999_000])
  const repeated = await operator.post(path, correction)
  expect([outcomeOf(repeated), repeated.body]).toEqual(['200', first.body])
  for (const other of [{ micro: 1 }, { reason: 'Another reason.' }])
    expect(outcomeOf(await operator.post(path, { ...correction, ...other }))).toBe('409 already_exists')
  const { body } = await stack.owner.get(`${stack.path}/audit`)
  const entries = body.data.filter(({ action }: { action: string }) => action === 'wallet.correct')
  expect(entries).toMatchObject([{ user: operator.id, details: { project: stack.project, ...correction } }])
})

test('refuses a correction that debits more than is available [insufficient_budget]', async ({
  stack,
  tenant,
  calls,
}) => {
  await calls.admit(tenant.secret, tenant.model)
  const path = `${stack.projectPath}/wallet/corrections`
  const reservedMicro = 108 + 200
  const availableMicro = 1_000_000 - reservedMicro
  const correct = (micro: number) => tenant.operator.post(path, { correctionId: `c${micro}`, micro, reason: 'r' })
  const answer = await correct(-availableMicro - 1)
  expect(outcomeOf(answer)).toBe('402 insufficient_budget')
  expect(answer.body.error.details).toEqual({ availableMicro, reservedMicro, neededMicro: availableMicro + 1 })
  expect(answer.body.error.resolution).toContain(`at most ${usd(availableMicro)}`)
  expect(outcomeOf(await correct(-availableMicro))).toBe('201')
})

test.for([
  { micro: 0 },
  { micro: 1.5 },
  { micro: -(2 ** 53) },
  { correctionId: '' },
  { reason: '' },
  { reason: ' ' },
  { reason: 'x'.repeat(501) },
  { reason: 'two\nlines' },
])('rejects a correction with %j [invalid_request]', async (more, { stack, signIn }) => {
  const operator = await signIn({ platformOperator: true })
  const correction = { correctionId: 'x', micro: -1, reason: 'r', ...more }
  expect(outcomeOf(await operator.post(`${stack.projectPath}/wallet/corrections`, correction))).toBe(
    '400 invalid_request',
  )
})

// spec: 1/s3
test('shows a call as open, then settled, with the price at which it was admitted', async ({
  stack,
  tenant,
  calls,
}) => {
  const { id, outcome } = await calls.admit(tenant.secret, tenant.model)
  expect(outcome.kind).toBe('admitted')
  const path = `${stack.projectPath}/invocations/${id}`
  const open = await stack.owner.get(path)
  const pricing = { unit: 'tokens', prompt: '0.000001', completion: '0.000002' }
  const reservedMicro = 108 + 200
  const record = {
    id,
    key: tenant.key,
    model: tenant.model,
    execution: null,
    node: null,
    estimated: false,
    pricing,
    reservedMicro,
  }
  expect(open.body).toMatchObject({
    ...record,
    state: 'Open',
    promptTokens: null,
    completionTokens: null,
    chargedMicro: 0,
  })

  await calls.settle(id)
  const settled = await stack.owner.get(path)
  expect(settled.body).toMatchObject({
    ...record,
    state: 'Settled',
    promptTokens: 10,
    completionTokens: 20,
    chargedMicro: 50,
  })
  expect(settled.body.createdAt).toBe(open.body.createdAt)
  expect((await stack.owner.get(`${stack.projectPath}/wallet`)).body).toEqual({
    fundedMicro: 1_000_000,
    reservedMicro: 0,
    settledMicro: 50,
    availableMicro: 999_950,
  })
})

test('shows the times of a call and its tries, and only to a platform operator which providers served it', async ({
  stack,
  tenant,
  calls,
  signIn,
}) => {
  const { id } = await calls.admit(tenant.secret, tenant.model)
  const tries = [
    { provider: 'first', startMs: 1, endMs: 90, outcome: 'timeout' as const },
    { provider: 'second', startMs: 90, endMs: 400, outcome: 'answered' as const },
  ]
  await calls.settle(id, undefined, { firstTokenMs: 130, tries })
  const path = `${stack.projectPath}/invocations/${id}`
  const shown = { firstTokenMs: 130, tries: tries.map((each) => ({ ...each, provider: null })) }
  expect((await stack.owner.get(path)).body).toMatchObject(shown)
  const operator = await signIn({ platformOperator: true })
  await join(stack.owner, stack.path, operator)
  await stack.owner.post(`${stack.projectPath}/grants`, { user: operator.id, role: 'Project Viewer' })
  expect((await operator.get(path)).body).toMatchObject({ firstTokenMs: 130, tries })
})

test('shows the newest attempt of a call, under the ID the caller knows', async ({ stack, tenant, calls }) => {
  const idempotency = { key: 'a-key-of-mine', fingerprint: 'a'.repeat(64) }
  const first = await calls.admit(tenant.secret, tenant.model, idempotency)
  await calls.release(first.id)
  const path = `${stack.projectPath}/invocations`
  expect((await stack.owner.get(path)).body.data).toMatchObject([{ id: first.id, state: 'Released', chargedMicro: 0 }])
  const second = await calls.admit(tenant.secret, tenant.model, idempotency)
  expect((await stack.owner.get(path)).body.data).toMatchObject([{ id: first.id, state: 'Open' }])
  await calls.settle(second.id)
  expect((await stack.owner.get(path)).body.data).toMatchObject([{ id: first.id, state: 'Settled', chargedMicro: 50 }])
})

test('a Project Viewer sees a call made by a private flow, but not its execution or node', async ({
  stack,
  tenant,
  fixture,
}) => {
  const [id, execution] = [fixture.id('inv'), fixture.id('exe')]
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, execution, node, admitted_at, closed_at)
     VALUES ($1, $1, 1, 'Settled', $2, $3, $3, $4, $5, 'the merger', now(), now())`,
    [id, stack.project, tenant.key, tenant.model, execution],
  )
  const path = `${stack.projectPath}/invocations`
  const consumer = await stack.member({ project: 'Project Consumer' })
  const shown = { id, model: tenant.model, key: tenant.key, state: 'Settled' }
  for (const caller of [stack.owner, consumer])
    expect((await caller.get(`${path}/${id}`)).body).toMatchObject({ ...shown, execution, node: 'the merger' })
  const viewer = await stack.member({ team: 'Team Owner', project: 'Project Viewer' })
  const hidden = { ...shown, execution: null, node: null }
  expect((await viewer.get(`${path}/${id}`)).body).toMatchObject(hidden)
  expect((await viewer.get(path)).body.data).toMatchObject([hidden])
  expect((await viewer.get(`${stack.projectPath}/usage`)).status).toBe(200)
})

test('a call to a free product keeps the pricing unit of the product', async ({ stack, tenant, fixture, calls }) => {
  const pricing = async (free: string) => {
    await fixture.assign(stack.project, free)
    const { id, outcome } = await calls.admit(tenant.secret, free)
    expect(outcome.kind).toBe('admitted')
    const open = (await stack.owner.get(`${stack.projectPath}/invocations/${id}`)).body.pricing as object
    await calls.settle(id)
    expect((await stack.owner.get(`${stack.projectPath}/invocations/${id}`)).body.pricing).toEqual(open)
    return open
  }
  const byRequest = await fixture.product({ promptPico: 0n, completionPico: 0n })
  await fixture.run(`UPDATE control.products SET unit = 'request' WHERE id = $1`, [byRequest])
  expect(await pricing(byRequest)).toEqual({ unit: 'request', request: '0' })
  const byTokens = await fixture.product({ promptPico: 0n, completionPico: 0n })
  expect(await pricing(byTokens)).toEqual({ unit: 'tokens', prompt: '0', completion: '0' })
})

test('lists invocations newest first, with no gap between pages', async ({ stack, tenant, calls }) => {
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.push((await calls.admit(tenant.secret, tenant.model)).id)
  for (const id of made.slice(0, 3)) await calls.settle(id)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query = `?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { body } = await stack.owner.get(`${stack.projectPath}/invocations${query}`)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
  }
  expect(seen).toEqual(made.toReversed())
})

test('lists the most expensive calls of a period first, and never an open or released one', async ({
  stack,
  tenant,
  calls,
}) => {
  const made: string[] = []
  for (const completionTokens of [5, 40, 20]) {
    const { id } = await calls.admit(tenant.secret, tenant.model)
    await calls.settle(id, { promptTokens: 1, completionTokens })
    made.push(id)
  }
  await calls.admit(tenant.secret, tenant.model)
  await calls.release((await calls.admit(tenant.secret, tenant.model)).id)
  const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString())
  const list = async (query: string) => (await stack.owner.get(`${stack.projectPath}/invocations?${query}`)).body
  const byCost = async (query: string) => {
    const { data, nextCursor } = await list(`order=cost&from=${from}&to=${to}&${query}`)
    expect(nextCursor).toBeNull()
    return data.map(({ id }: { id: string }) => id)
  }
  expect(await byCost('')).toEqual([made[1], made[2], made[0]])
  expect(await byCost('limit=1')).toEqual([made[1]])
  expect(await byCost(`key=${tenant.key}&limit=2`)).toEqual([made[1], made[2]])
  expect(await byCost('state=Released')).toEqual([])
})

test('adds exact percentiles of the charged calls that match the filters', async ({ stack, tenant, fixture }) => {
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, admitted_at, closed_at, first_token_ms)
     SELECT id, id, 1, CASE WHEN n > 20 THEN 'Released' ELSE 'Settled' END, $1, $2, $2, 'acme/' || n % 2, at, at + n * interval '100 ms',
            CASE WHEN n % 4 = 0 THEN n END
       FROM generate_series(1, 25) n
      CROSS JOIN LATERAL (SELECT 'inv_' || $1 || n AS id, now() - n * interval '1 minute' AS at) t`,
    [stack.project, tenant.key],
  )
  const read = async (query: string) => {
    const { body } = await stack.owner.get(`${stack.projectPath}/invocations?limit=1&include=latency&${query}`)
    return body.latency as unknown
  }
  const all = { calls: 20, latencyP50Ms: 1_000, latencyP95Ms: 1_900, firstTokenP50Ms: 12, firstTokenP95Ms: 20 }
  expect(await read('')).toEqual(all)
  expect(await read('model=acme/1')).toEqual({
    calls: 10,
    latencyP50Ms: 900,
    latencyP95Ms: 1_900,
    firstTokenP50Ms: null,
    firstTokenP95Ms: null,
  })
  expect(await read('model=acme/none')).toMatchObject({ calls: 0, latencyP50Ms: null })
})

test.for([
  ['order=cost', 'order'],
  ['order=cost&from=2026-01-01T00:00:00Z', 'order'],
  ['order=cost&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z', 'order'],
  ['order=cost&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&cursor=x', 'cursor'],
  ['order=age', 'order'],
] as const)('rejects a list of calls with %s [invalid_request]', async ([query, param], { stack }) => {
  const answer = await stack.owner.get(`${stack.projectPath}/invocations?${query}`)
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
})

// spec: 1/s3, can/wallet
test('sums charged calls by model, key and day, and counts failed ones', async ({ stack, tenant, calls }) => {
  for (let n = 0; n < 3; n++) await calls.settle((await calls.admit(tenant.secret, tenant.model)).id)
  await calls.release((await calls.admit(tenant.secret, tenant.model)).id)
  await calls.admit(tenant.secret, tenant.model)
  const sums = { calls: 3, promptTokens: 30, completionTokens: 60, chargedMicro: 150, errors: 1 }
  const hour = 3_600_000
  const thisHour = Math.floor(Date.now() / hour) * hour
  const at = (ms: number) => new Date(ms).toISOString()
  const [from, to] = [at(thisHour - hour), at(thisHour + 2 * hour)] // whole hours, even if the next one starts during the test
  const read = async (by: string) => {
    const within = `from=${at(thisHour - hour + 1)}&to=${at(thisHour + hour + 1)}`
    return (await stack.owner.get(`${stack.projectPath}/usage?${within}&by=${by}`)).body
  }
  expect(await read('model')).toEqual({
    from,
    to,
    by: 'model',
    data: [{ group: tenant.model, ...sums }],
    groupCount: 1,
    total: sums,
  })
  expect((await read('key')).data).toEqual([{ group: tenant.key, ...sums }])
  expect((await read('day')).data.reduce((sum: number, day: { calls: number }) => sum + day.calls, 0)).toBe(3)
  const earlier = `${stack.projectPath}/usage?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z`
  expect((await stack.owner.get(earlier)).body).toMatchObject({ data: [], total: { chargedMicro: 0 } })
})

test.for([
  'from=2020-01-01T00:00:00Z&to=2021-03-01T00:00:00Z',
  'from=yesterday',
  'by=colour',
  'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
  'colour=red',
])('rejects a usage query with %s [invalid_request]', async (query, { stack }) => {
  expect(outcomeOf(await stack.owner.get(`${stack.projectPath}/usage?${query}`))).toBe('400 invalid_request')
})

// spec: 3.2/s3, 5/s7
test('a revocation applies to the next call as soon as its response arrives', async ({ stack, tenant, calls }) => {
  const product = `${stack.projectPath}/assignments/${encodeURIComponent(tenant.model)}`
  const refusal = async (secret: string) => {
    const { outcome } = await calls.admit(secret, tenant.model)
    return outcome.kind === 'refused' ? outcome.code : outcome.kind
  }
  const issuer = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const { key, secret } = (await issuer.post(`${stack.path}/keys`, { project: stack.project })).body
  const team = `${stack.path}/teams/${stack.team}/members`
  const grants = `${stack.projectPath}/grants`
  expect(await refusal(secret)).toBe('admitted')

  await stack.owner.delete(product)
  expect(await refusal(secret)).toBe('model_not_found')
  await stack.owner.put(product)
  expect(await refusal(secret)).toBe('admitted')

  await stack.owner.delete(`${grants}/${issuer.id}`)
  expect(await refusal(secret)).toBe('key_issuer_denied')
  await stack.owner.post(grants, { user: issuer.id, role: 'Project Consumer' })
  expect(await refusal(secret)).toBe('admitted')
  await stack.owner.post(grants, { user: issuer.id, role: 'Project Viewer' })
  expect(await refusal(secret)).toBe('key_issuer_denied')
  await stack.owner.post(grants, { user: issuer.id, role: 'Project Owner' })
  expect(await refusal(secret)).toBe('admitted')

  await stack.owner.delete(`${team}/${issuer.id}`)
  expect(await refusal(secret)).toBe('key_issuer_denied')
  await stack.owner.post(team, { user: issuer.id })
  expect(await refusal(secret)).toBe('admitted')

  await stack.owner.delete(`${stack.path}/members/${issuer.id}`)
  expect(await refusal(secret)).toBe('key_issuer_denied')
  await join(stack.owner, stack.path, issuer)
  await stack.owner.post(team, { user: issuer.id })
  expect(await refusal(secret)).toBe('key_issuer_denied')
  await stack.owner.post(grants, { user: issuer.id, role: 'Project Consumer' })
  expect(await refusal(secret)).toBe('admitted')

  const state = (to: string) =>
    tenant.operator.patch(`/api/v2/products/${encodeURIComponent(tenant.model)}`, { state: to })
  await state('suspended')
  expect(await refusal(secret)).toBe('model_not_found')
  await state('published')
  expect(await refusal(secret)).toBe('admitted')

  await stack.owner.post(`${stack.path}/keys/${key.id}/revoke`)
  expect(await refusal(secret)).toBe('key_revoked')
})

// spec: can/rotation
test('rotation ends the old secret immediately, or after its grace period', async ({ stack, tenant, calls }) => {
  const refusal = async (secret: string) => {
    const { outcome } = await calls.admit(secret, tenant.model)
    return outcome.kind === 'refused' ? outcome.code : outcome.kind
  }
  const rotate = async (id: string, graceSeconds: number) =>
    (await stack.owner.post(`${stack.path}/keys/${id}/rotate`, { graceSeconds })).body
  const second = await rotate(tenant.key, 3600)
  expect([await refusal(tenant.secret), await refusal(second.secret)]).toEqual(['admitted', 'admitted'])
  const third = await rotate(second.key.id, 0)
  expect([await refusal(second.secret), await refusal(third.secret)]).toEqual(['key_revoked', 'admitted'])
})

test('responds with 503 to requests that need the ledger while it is down [unavailable]', async ({
  stack,
  ledger,
  signIn,
  fixture,
  console,
}) => {
  const operator = await signIn({ platformOperator: true })
  const { key } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const { id: token, secret } = await fixture.token(stack.owner.id)
  await callerOf(console.url, '', secret).post(`${stack.path}/keys`, { project: stack.project })
  await ledger.stop()
  try {
    const [wallet, funding, ...revoked] = await Promise.all([
      stack.owner.get(`${stack.projectPath}/wallet`),
      operator.post(`${stack.projectPath}/wallet/fundings`, { fundingId: 'later', micro: 1 }),
      stack.owner.post(`${stack.path}/keys/${key.id}/revoke`),
      stack.owner.delete(`/api/v2/me/tokens/${token}`), // its key is revoked with it
    ])
    expect([wallet, funding, ...revoked].map(outcomeOf)).toEqual(Array(4).fill('503 unavailable'))
    expect(wallet.headers.get('Retry-After')).toBe('1')
  } finally {
    await ledger.start()
  }
  // The key was revoked and the token deleted anyway; the repeated request passes the barrier and reports that.
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys/${key.id}/revoke`))).toBe('409 key_not_active')
  expect(outcomeOf(await stack.owner.delete(`/api/v2/me/tokens/${token}`))).toBe('404 not_found')
  expect(outcomeOf(await operator.post(`${stack.projectPath}/wallet/fundings`, { fundingId: 'later', micro: 1 }))).toBe(
    '201',
  )
})

test('rotates a key without grace only while the ledger can confirm that the old secret ended [unavailable]', async ({
  stack,
  ledger,
  console,
}) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const itself = callerOf(console.url, '', secret)
  await ledger.stop()
  try {
    expect(outcomeOf(await itself.post(`${stack.path}/keys/${key.id}/rotate`))).toBe('503 unavailable')
    expect((await stack.owner.get(`${stack.path}/keys/${key.id}`)).body.state).toBe('Active')
  } finally {
    await ledger.start()
  }
  expect(outcomeOf(await itself.post(`${stack.path}/keys/${key.id}/rotate`))).toBe('201')
})

test('ending a personal token waits for the barrier of the keys that it made, however it ends [unavailable]', async ({
  stack,
  ledger,
  signIn,
  fixture,
  console,
}) => {
  const operator = await signIn({ platformOperator: true, by: 'session' })
  const stranger = callerOf(console.url, '', '')
  const password = 'correct horse battery'
  const maker = async () => {
    const user = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
    await fixture.run(`INSERT INTO control.second_factors (user_id, secret) VALUES ($1, '')`, [user.id])
    const made = await user.post(`${stack.path}/keys`, { project: stack.project })
    expect(outcomeOf(made)).toBe('201')
    return user
  }
  const [one, two, three, four, five, six] = await Promise.all(Array.from({ length: 6 }, maker))
  const session = await signIn({ id: two!.id, by: 'session' })
  const reset = await operator.post('/api/v2/password-resets', { email: `${three!.id}@example.test` })
  await ledger.stop()
  try {
    await fixture.run('BEGIN')
    await fixture.run('SELECT FROM control.user_tokens WHERE user_id = $1 FOR SHARE', [six!.id])
    const reported = [1, 2].map(() => stranger.post('/api/v2/leaked-secrets', { token: six!.token }))
    await untilBlocked(fixture, 2)
    await fixture.run('COMMIT')
    const ended = await Promise.all([
      ...reported,
      one!.delete('/api/v2/me/sessions'),
      session.put('/api/v2/me/password', { password }),
      stranger.post('/api/v2/session/reset/complete', { secret: reset.body.link.split('#')[1], password }),
      operator.delete(`/api/v2/users/${four!.id}/second-factor`),
      operator.post(`/api/v2/users/${five!.id}/disable`),
    ])
    expect(ended.map(outcomeOf)).toEqual(Array(7).fill('503 unavailable'))
    const again = await signIn({ id: one!.id, by: 'session' })
    const repeated = await Promise.all([
      again.delete('/api/v2/me/sessions'),
      operator.delete(`/api/v2/users/${four!.id}/second-factor`),
    ])
    expect(repeated.map(outcomeOf)).toEqual(Array(2).fill('503 unavailable'))
  } finally {
    await ledger.start()
  }
  // The second factor was removed anyway; the repeated request passes the barrier and reports that.
  expect(outcomeOf(await operator.delete(`/api/v2/users/${four!.id}/second-factor`))).toBe('404 not_found')
  const { rows } = await fixture.run(
    'SELECT count(*)::int AS revoked FROM control.keys WHERE tenant = $1 AND revoked_at IS NOT NULL',
    [stack.tenant],
  )
  expect(rows).toEqual([{ revoked: 6 }])
})

test("the console's database login can't write money", async ({ database }) => {
  const { openDatabase } = await import('@gateway/database/client')
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  try {
    await expect(prisma.wallet.updateMany({ data: { funded: 1n } })).rejects.toThrow(/permission denied/)
    await expect(prisma.auditEntry.deleteMany()).rejects.toThrow(/permission denied|append-only/)
  } finally {
    await close()
  }
})

test('the 404 for a call in an archived month names the archive [invocation_archived]', async ({ stack, fixture }) => {
  await fixture.run(
    `INSERT INTO money.archives (month, manifest, folder, entries, attempts, at)
     VALUES ('2025-04-01', sha256('a'), '/archive', 0, '{2025-02-01,2025-03-01}', now())`,
  )
  const asked = (day: string) =>
    stack.owner.get(`${stack.projectPath}/invocations/${mintId('inv', Date.parse(day), randomBytes(10))}`)
  const archived = await asked('2025-03-31T23:59:59Z')
  expect(outcomeOf(archived)).toBe('404 invocation_archived')
  expect(archived.body.error.resolution).toContain('in the archive of 2025-03')
  expect(outcomeOf(await asked('2025-04-01T00:00:00Z'))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.get(`${stack.projectPath}/invocations/inv_none`))).toBe('404 not_found')
})

test('a list of calls names the day before which they are archived, if its period begins earlier', async ({
  stack,
  fixture,
}) => {
  await fixture.run(
    `INSERT INTO money.archives (month, manifest, folder, entries, attempts, at)
     VALUES ('2025-06-01', sha256('b'), '/archive', 0, '{2025-05-01}', now())`,
  )
  const archivedBefore = async (query: string) =>
    (await stack.owner.get(`${stack.projectPath}/invocations?${query}`)).body.archivedBefore
  expect(await archivedBefore('')).toBeUndefined() // the project is newer
  await fixture.run(`UPDATE control.projects SET created_at = '2025-01-01' WHERE id = $1`, [stack.project])
  expect(await archivedBefore('')).toBe('2025-06-01')
  expect(await archivedBefore('from=2025-05-31T23:59:59Z')).toBe('2025-06-01')
  expect(await archivedBefore('from=2025-06-01T00:00:00Z')).toBeUndefined()
  expect(await archivedBefore('order=cost&from=2025-05-20T00:00:00Z&to=2025-06-10T00:00:00Z')).toBe('2025-06-01')
})
