import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { stackTest } from '@gateway/testbed/stack-test'
import type { RealModel } from './real-models.ts'
import { seed } from './seed.ts'
import { ids, type SeedOptions } from './seeded.ts'

/** What a running ledger writes on its own schedule. */
const writtenByMaintenance = [
  'instance_monitors',
  'maintenance_turns',
  'journal_days',
  'usage_positions',
  'checked_wallets',
  'rechecked_wallets',
  'checked_meters',
]
const real: RealModel = {
  provider: 'openai',
  model: 'gpt-4.1-mini',
  promptUsdPerToken: '0.0000004',
  completionUsdPerToken: '0.0000016',
}

const test = stackTest
  .extend('counts', { scope: 'file' }, () => ({ gateways: 0, workers: 0 }))
  .extend('ledger', { scope: 'file' }, ({ services }) => services.ledgers[0]!)
  .extend('console', { scope: 'file' }, ({ services }) => services.console!)
  .extend('run', { scope: 'file' }, ({ database, ledger, console, services }) => {
    const { adminUrl } = database
    const [ledgerUrl, consoleUrl] = [ledger.url, console.url]
    return (before: SeedOptions['before'], more: Partial<SeedOptions> = {}) =>
      seed({
        adminUrl,
        ledgerUrl,
        consoleUrl,
        consolePrivateKey: services.secrets.console,
        before,
        realModels: [],
        log: () => {},
        ...more,
      })
  })
  .extend('seeded', { scope: 'file' }, ({ run }) => run(null))
  .extend('callable', { scope: 'file' }, async ({ ledger, services }, { onCleanup }) => {
    const client = openLedgerClient({ url: ledger.url, service: 'gateway', privateKey: services.secrets.gateway })
    onCleanup(client.close)
    return async (secret: string) => {
      const keyHash = createHash('sha256').update(secret).digest('hex')
      const answer = await client.models({ keyHash, selector: null })
      return 'entries' in answer ? answer.entries.map(({ id }) => id) : answer.refused.code
    }
  })

test('the key can call what is said, in both pricing shapes; the other key its own; the legacy key nothing', async ({
  seeded,
  callable,
  fixture,
}) => {
  expect(await callable(seeded.key)).toEqual([...seeded.models, seeded.sandboxes!.chat].toSorted())
  expect(await callable(seeded.otherProject.key)).toEqual(['acme/flat', 'acme/swift'])
  expect(await callable(seeded.legacyKey)).toBe('key_unbound')
  const { rows } = await fixture.run('SELECT DISTINCT kind, unit FROM control.products ORDER BY 1, 2')
  expect(rows).toEqual([
    { kind: 'audio', unit: 'request' },
    { kind: 'chat', unit: 'request' },
    { kind: 'chat', unit: 'tokens' },
    { kind: 'embedding', unit: 'tokens' },
    { kind: 'image', unit: 'request' },
  ])
})

test('both flows are active, the one is a model, and the other has a branch and an image', async ({
  seeded,
  console,
}) => {
  const headers = { Authorization: `Bearer ${seeded.consoleToken}` }
  const read = async (id: string) => {
    const at = `${console.url}/api/v2/tenants/${seeded.tenant}/sandboxes/${id}`
    const sandbox = (await (await fetch(at, { headers })).json()) as Record<string, unknown>
    const revision = (await (await fetch(`${at}/revisions/1`, { headers })).json()) as {
      problems: unknown[]
      package: { manifest: string[]; graph: { nodes: { kind: string }[] } }
    }
    return { sandbox, ...revision }
  }
  const [chat, mixed] = [await read(seeded.sandboxes!.chat), await read(seeded.sandboxes!.mixed)]
  for (const { sandbox, problems } of [chat, mixed]) {
    expect(sandbox).toMatchObject({ activeRevision: 1, latestRevision: 1, mcpEnabled: true, suspended: false })
    expect(problems).toEqual([])
  }
  expect(chat.package.manifest).toEqual(['acme/swift'])
  expect(mixed.package.manifest).toEqual([seeded.media.image, 'acme/swift'])
  const kinds = mixed.package.graph.nodes.map(({ kind }) => kind)
  expect(kinds).toEqual(expect.arrayContaining(['branch', 'product.image']))
})

test('the user may do everything, by token and by password, and the wallet is funded', async ({ seeded, console }) => {
  const api = async (way: string, init: RequestInit = {}) => {
    const answer = await fetch(`${console.url}/api/v2${way}`, init)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const headers = { Authorization: `Bearer ${seeded.consoleToken}` }
  expect(await api('/me', { headers })).toMatchObject({
    status: 200,
    body: { platformOperator: true, tenants: [{ id: seeded.tenant, role: 'Admin' }] },
  })
  const wallet = await api(`/tenants/${seeded.tenant}/projects/${seeded.project}/wallet`, { headers })
  expect(wallet.body).toMatchObject({ fundedMicro: 100_000_000, availableMicro: 100_000_000 })
  const { email, password } = seeded
  expect((await api('/session', { method: 'POST', body: JSON.stringify({ email, password }) })).status).toBe(201)
  const key = { project: seeded.project, name: 'Another' }
  const made = await api(`/tenants/${seeded.tenant}/keys`, { method: 'POST', headers, body: JSON.stringify(key) })
  expect(made.status).toBe(201)
})

test('a second run changes nothing and answers the same secrets', async ({ seeded, run, fixture }) => {
  const tables = async () => {
    const { rows } = await fixture.run(
      `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
        WHERE table_schema IN ('control', 'money') AND table_type = 'BASE TABLE'
          AND table_name <> ALL ($1)
        ORDER BY 1`,
      [writtenByMaintenance],
    )
    const contents: Record<string, unknown> = {}
    for (const { name } of rows as { name: string }[])
      contents[name] = (await fixture.run(`SELECT t::text FROM ${name} t ORDER BY 1`)).rows
    return contents
  }
  await fixture.run('SELECT control.seal_audit(1000)') // or the console does so in between
  const before = await tables()
  expect(await run(seeded)).toEqual(seeded)
  expect(await tables()).toEqual(before)
})

test('what someone has changed since stays changed', async ({ seeded, run, fixture }) => {
  await fixture.run(`UPDATE control.products SET name = 'Renamed' WHERE id = 'acme/sage'`)
  await fixture.run(`DELETE FROM control.assignments WHERE product = 'acme/sage'`)
  expect((await run(seeded)).models).toEqual(['acme/swift', 'acme/flat'])
  const { rows } = await fixture.run(`SELECT name FROM control.products WHERE id = 'acme/sage'`)
  expect(rows).toEqual([{ name: 'Renamed' }])
  expect((await fixture.run(`SELECT FROM control.assignments WHERE product = 'acme/sage'`)).rowCount).toBe(0)
  await fixture.run(`INSERT INTO control.assignments (project, product) VALUES ($1, 'acme/sage')`, [seeded.project])
})

test('a flow that cannot be made now is reported, and everything else is there', async ({ seeded, run, fixture }) => {
  const name = (from: string, to: string) =>
    fixture.run('UPDATE control.sandboxes SET name = $2 WHERE name = $1', [from, to])
  await name('Short answers', 'Mine')
  expect((await run(seeded)).sandboxes).toEqual(seeded.sandboxes)
  await fixture.run(`DELETE FROM control.assignments WHERE product = 'acme/swift' AND project = $1`, [seeded.project])
  const reported: string[] = []
  const { sandboxes: _known, ...before } = seeded
  const again = await run(before, { log: (line) => reported.push(line) })
  expect(reported).toEqual([expect.stringMatching(/^The flow Short answers is not active: .*product_not_assigned/)])
  expect(again.sandboxes!.mixed).toBe(seeded.sandboxes!.mixed)
  await fixture.run(`INSERT INTO control.assignments (project, product) VALUES ($1, 'acme/swift')`, [seeded.project])
  const later: string[] = []
  expect((await run(again, { log: (line) => later.push(line) })).sandboxes).toEqual(again.sandboxes)
  expect(later).toEqual([])
  const { rows } = await fixture.run(
    'SELECT latest_revision, active_revision FROM control.sandboxes WHERE id = $1 AND active_digest IS NOT NULL',
    [again.sandboxes!.chat],
  )
  expect(rows).toEqual([{ latest_revision: 1, active_revision: 1 }])
  await fixture.run('UPDATE control.sandboxes SET active_revision = NULL, activated_at = NULL WHERE id = $1', [
    again.sandboxes!.chat,
  ])
  await fixture.run('DELETE FROM control.revisions WHERE sandbox = $1', [again.sandboxes!.chat])
  await fixture.run('DELETE FROM control.sandboxes WHERE id = $1', [again.sandboxes!.chat])
  await name('Mine', 'Short answers')
})

test.for([
  {
    what: 'the organization requires a second factor',
    says: 'second_factor_required',
    change: 'UPDATE control.tenants SET require_second_factor = true',
    undo: 'UPDATE control.tenants SET require_second_factor = false',
  },
  {
    what: 'the owner has left the first project',
    says: 'not_found',
    change: `DELETE FROM control.project_grants WHERE project = '${ids.project}'`,
    undo: `INSERT INTO control.project_grants (project, user_id, role) VALUES ('${ids.project}', '${ids.user}', 'Project Owner')`,
  },
  {
    what: 'the owner is disabled',
    says: 'token_invalid',
    change: `UPDATE control.users SET disabled_at = now() WHERE id = '${ids.user}'`,
    undo: `UPDATE control.users SET disabled_at = NULL WHERE id = '${ids.user}'`,
  },
])('keeps the flows of before and says why once $what', async ({ says, change, undo }, { seeded, run, fixture }) => {
  await fixture.run(change)
  const reported: string[] = []
  expect(await run(seeded, { log: (line) => reported.push(line) })).toEqual(seeded)
  const { sandboxes: _known, ...before } = seeded
  expect((await run(before)).sandboxes).toBeNull()
  await fixture.run(undo)
  expect(reported).toEqual([expect.stringMatching(`^The example flows could not be checked: .*${says}`)])
})

test.for([
  { what: 'has expired', change: 'UPDATE control.user_tokens SET expires_at = now()' },
  { what: 'someone has deleted', change: 'DELETE FROM control.user_tokens' },
])('replaces a console token that $what', async ({ change }, { seeded, run, fixture, console }) => {
  const statusBy = async (token: string) =>
    (await fetch(`${console.url}/api/v2/me`, { headers: { Authorization: `Bearer ${token}` } })).status
  const sessions = async () => (await fixture.run('SELECT FROM control.sessions')).rowCount
  const before = await sessions()
  await fixture.run('CREATE TABLE kept_tokens AS TABLE control.user_tokens')
  await fixture.run(change)
  const again = await run(seeded)
  expect({ ...again, consoleToken: seeded.consoleToken }).toEqual(seeded)
  expect(await statusBy(again.consoleToken)).toBe(200)
  expect(await statusBy(seeded.consoleToken)).toBe(401)
  expect(await sessions()).toBe(before)
  await fixture.run('DELETE FROM control.user_tokens')
  await fixture.run('INSERT INTO control.user_tokens TABLE kept_tokens')
  await fixture.run('DROP TABLE kept_tokens')
})

test('a key that was revoked is replaced by one that works', async ({ seeded, run, callable, fixture }) => {
  await fixture.run(`UPDATE control.keys SET revoked_at = now() WHERE prefix = $1`, [
    seeded.otherProject.key.slice(0, 12),
  ])
  const again = await run(seeded)
  expect({ ...again, otherProject: seeded.otherProject }).toEqual(seeded)
  expect(await callable(again.otherProject.key)).toContain('acme/swift')
})

// spec: can/real-providers
test('real models stand alongside the simulated ones as long as the environment names them', async ({
  seeded,
  run,
  fixture,
}) => {
  const state = async () => {
    const { rows } = await fixture.run(
      `SELECT state, completion_pico::int AS pico FROM control.products WHERE id = 'gpt-4.1-mini'`,
    )
    return rows[0] as unknown
  }
  expect((await run(seeded, { realModels: [real] })).models).toEqual([...seeded.models, 'gpt-4.1-mini'])
  expect(await state()).toEqual({ state: 'published', pico: 1_600_000 })
  expect((await run(seeded)).models).toEqual(seeded.models)
  expect(await state()).toEqual({ state: 'suspended', pico: 1_600_000 })
  await run(seeded, { realModels: [{ ...real, completionUsdPerToken: '0.000002' }] })
  expect(await state()).toEqual({ state: 'published', pico: 2_000_000 })
})

test('a real product moves to the provider that the environment names now, unless someone chose its providers', async ({
  seeded,
  run,
  fixture,
  console,
}) => {
  const headers = { Authorization: `Bearer ${seeded.consoleToken}` }
  const stored = async () =>
    (await fixture.run(`SELECT providers FROM control.products WHERE id = 'gpt-4.1-mini'`)).rows[0] as object
  const seedFrom = (provider: RealModel['provider']) => run(seeded, { realModels: [{ ...real, provider }] })
  const servedBy = (provider: string) => ({ providers: [{ provider, model: 'gpt-4.1-mini', priority: 0 }] })
  await seedFrom('openai')
  await seedFrom('azure')
  expect(await stored()).toEqual(servedBy('azure'))
  const patch = { method: 'PATCH', headers, body: JSON.stringify(servedBy('google')) }
  expect((await fetch(`${console.url}/api/v2/products/gpt-4.1-mini`, patch)).status).toBe(200)
  await seedFrom('azure')
  expect(await stored()).toEqual(servedBy('google'))
})

test('keeps the state and the price that someone chose for a real product', async ({
  seeded,
  run,
  fixture,
  console,
}) => {
  const model = 'chosen-model'
  const seedAt = (promptUsdPerToken: string) =>
    run(seeded, { realModels: [{ ...real, model, promptUsdPerToken, completionUsdPerToken: '0.000008' }] })
  const stored = async () => {
    const columns = 'state, unit, prompt_pico::int AS prompt, cached_pico::int AS cached, request_pico::int AS request'
    const { rows } = await fixture.run(`SELECT ${columns} FROM control.products WHERE id = $1`, [model])
    return rows[0] as object
  }
  const change = async (patch: object) => {
    const headers = { Authorization: `Bearer ${seeded.consoleToken}` }
    const answer = await fetch(`${console.url}/api/v2/products/${model}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify(patch),
    })
    expect(answer.status).toBe(200)
  }
  await seedAt('0.000002')
  await change({ state: 'suspended' })
  await seedAt('0.000003')
  expect(await stored()).toMatchObject({ state: 'suspended', prompt: 3_000_000 })

  // Published again, it follows the environment: it is suspended while that leaves it out.
  await change({ state: 'published' })
  await run(seeded)
  expect(await stored()).toMatchObject({ state: 'suspended' })
  await seedAt('0.000003')
  expect(await stored()).toMatchObject({ state: 'published' })

  const pricing = { unit: 'tokens', prompt: '0.000003', completion: '0.000008', cachedPrompt: '0.000002' }
  await change({ pricing })
  await seedAt('0.000001') // below the cached price
  expect(await stored()).toMatchObject({ prompt: 3_000_000, cached: 2_000_000 })
  await change({ pricing: { unit: 'request', request: '0.0005' } })
  await seedAt('0.000001')
  expect(await stored()).toMatchObject({ unit: 'request', prompt: 0, request: 500_000_000 })
})

test('keeps a real product that someone created in the console as a draft', async ({
  seeded,
  run,
  fixture,
  console,
}) => {
  const model = 'drafted-model'
  const headers = { Authorization: `Bearer ${seeded.consoleToken}` }
  const product = {
    id: model,
    name: 'Drafted',
    description: 'A draft.',
    kind: 'chat',
    ownedBy: 'Third party',
    contextLength: 8192,
    maxOutputTokens: 4096,
    pricing: { unit: 'tokens', prompt: '0.000001', completion: '0.000002' },
    providers: [{ provider: 'openai', model, priority: 0 }],
  }
  const created = await fetch(`${console.url}/api/v2/products`, {
    method: 'POST',
    headers,
    body: JSON.stringify(product),
  })
  expect([created.status, await created.json()]).toMatchObject([201, { state: 'draft' }])
  await run(seeded, { realModels: [{ ...real, model }] })
  const { rows } = await fixture.run('SELECT state FROM control.products WHERE id = $1', [model])
  expect(rows).toEqual([{ state: 'draft' }])
})

test('fits the longest answer of a real product into the context that the environment names later', async ({
  seeded,
  run,
  fixture,
}) => {
  const model = 'gpt-4o'
  const seedWith = async (limits: RealModel['limits']) => {
    await run(seeded, { realModels: [{ ...real, model, limits }] })
    const columns = 'context_length AS context, max_output_tokens AS output'
    return (await fixture.run(`SELECT ${columns} FROM control.products WHERE id = $1`, [model])).rows[0] as object
  }
  expect(await seedWith(undefined)).toEqual({ context: 128_000, output: 16_384 })
  expect(await seedWith({ contextLength: 8192 })).toEqual({ context: 8192, output: 4096 })
  expect(await seedWith({ contextLength: 8192, maxOutputTokens: 1000 })).toEqual({ context: 8192, output: 1000 })
})

test.for([
  {
    what: 'two providers',
    providers: [
      { provider: 'google', model: 'gpt-4.1-nano', priority: 0 },
      { provider: 'azure', model: 'gpt-4.1-nano', priority: 1 },
    ],
  },
  { what: 'another model', providers: [{ provider: 'google', model: 'my-deployment', priority: 0 }] },
  { what: 'another priority', providers: [{ provider: 'google', model: 'gpt-4.1-nano', priority: 1 }] },
])('keeps $what of a real product whose change the audit has forgotten', async ({ providers }, { run, fixture }) => {
  const before = await run(null)
  const nano = { ...real, model: 'gpt-4.1-nano' }
  const stored = async () =>
    (await fixture.run(`SELECT providers FROM control.products WHERE id = 'gpt-4.1-nano'`)).rows[0] as object
  await run(before, { realModels: [nano] })
  await fixture.run(`UPDATE control.products SET providers = $1 WHERE id = 'gpt-4.1-nano'`, [JSON.stringify(providers)])
  await run(before, { realModels: [nano] })
  expect(await stored()).toEqual({ providers })
  await fixture.run(`UPDATE control.products SET providers = $1 WHERE id = 'gpt-4.1-nano'`, [
    JSON.stringify([{ provider: 'azure', model: 'gpt-4.1-nano', priority: 0 }]),
  ])
  await run(before, { realModels: [nano] })
  expect(await stored()).toMatchObject({ providers: [{ provider: 'openai' }] })
})

test.for([
  { what: 'a price per request', set: `unit = 'request', prompt_pico = 0, completion_pico = 0, request_pico = 7` },
  { what: 'a price of cached tokens', set: 'cached_pico = prompt_pico' },
  { what: 'a price of tokens written to a cache', set: 'cache_write_pico = prompt_pico' },
  { what: 'a price of reasoning tokens', set: 'reasoning_pico = completion_pico' },
])('keeps $what of a real product whose change the audit has forgotten', async ({ set }, { run, fixture }) => {
  const before = await run(null)
  const pro = { ...real, model: 'gpt-4.1-pro' }
  const [prices, own] = [`to_jsonb(p) AS row FROM control.products p WHERE id = 'gpt-4.1-pro'`, { realModels: [pro] }]
  await run(before, own)
  await fixture.run(`UPDATE control.products SET ${set} WHERE id = 'gpt-4.1-pro'`)
  const { rows: changed } = await fixture.run(`SELECT ${prices}`)
  await run(before, { realModels: [{ ...pro, promptUsdPerToken: '0', completionUsdPerToken: '0' }] })
  expect((await fixture.run(`SELECT ${prices}`)).rows).toEqual(changed)
  await fixture.run(`DELETE FROM control.assignments WHERE product = 'gpt-4.1-pro'`)
  await fixture.run(`DELETE FROM control.products WHERE id = 'gpt-4.1-pro'`)
})

test('without the file of before it finds its things and makes new secrets', async ({ run, callable, console }) => {
  const again = await run(null)
  expect(await callable(again.key)).toContain('acme/swift')
  const { email, password } = again
  const answer = await fetch(`${console.url}/api/v2/session`, {
    method: 'POST',
    body: JSON.stringify({ email, password }),
  })
  expect(answer.status).toBe(201)
})

test('shows no password once the user has set another one, which stays', async ({ run, console }) => {
  const { email, ...before } = await run(null)
  const password = 'a password of mine'
  const changed = await fetch(`${console.url}/api/v2/me/password`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${before.consoleToken}` },
    body: JSON.stringify({ password, current: before.password }),
  })
  expect(changed.status).toBe(204)
  const reported: string[] = []
  const log = (line: string) => reported.push(line)
  const again = await run(before, { log })
  expect(again.password).toBeNull()
  expect(await run(again, { log })).toEqual(again)
  expect(reported).toEqual(['The password of owner@example.test has been changed since the first start.'])
  const session = { method: 'POST', body: JSON.stringify({ email, password }) }
  expect((await fetch(`${console.url}/api/v2/session`, session)).status).toBe(201)
})

test('asks about a kept password until the console has accepted it', async ({ run, console, fixture }) => {
  const { passwordChecked: _checked, ...old } = await run(null)
  const { consoleToken } = await run(null) // which sets another password
  const before = { ...old, consoleToken }
  const session = { method: 'POST', body: JSON.stringify({ email: old.email, password: 'a guess' }) }
  const guess = async () => (await fetch(`${console.url}/api/v2/session`, session)).status
  while ((await guess()) !== 429);
  const unknown = await run(before)
  expect(unknown.password).toBe(old.password)
  await fixture.run('DELETE FROM control.sign_in_failures')
  expect((await run(unknown)).password).toBeNull()
  await fixture.run('DELETE FROM control.sign_in_failures')
})

test('asks about no password that the console has accepted before', async ({ run }) => {
  const before = await run(null)
  const { consoleToken } = await run(null) // which sets another password
  const same = { ...before, consoleToken }
  expect(await run(same)).toMatchObject({ password: before.password, passwordChecked: true })
})

test('starts without a password for a user who signs in at a provider', async ({ run, fixture }) => {
  const before = await run(null)
  await fixture.run(`UPDATE control.users SET password_hash = NULL WHERE id = $1`, [ids.user])
  await fixture.run(
    `INSERT INTO control.user_identities (issuer, subject, user_id) VALUES ('https://idp.test', 'owner', $1)`,
    [ids.user],
  )
  const reported: string[] = []
  const again = await run(before, { log: (line) => reported.push(line) })
  expect(again).toEqual({ ...before, password: null, passwordChecked: undefined })
  expect(reported).toEqual([expect.stringMatching(/^The console did not set a password: 403 .*sign-in provider/)])
  await fixture.run('DELETE FROM control.user_identities')
  expect(await run(again)).toMatchObject({ password: expect.any(String) })
})

test('makes the first project whole again after someone has deleted it', async ({ run, callable, console }) => {
  const before = await run(null, { realModels: [real] })
  const at = `${console.url}/api/v2/tenants/${before.tenant}/projects/${before.project}`
  const headers = { Authorization: `Bearer ${before.consoleToken}` }
  expect((await fetch(at, { method: 'DELETE', headers })).status).toBe(204)
  const { key: _key, sandboxes: _sandboxes, ...same } = before
  const again = await run(before, { realModels: [real] })
  expect(again).toMatchObject(same)
  expect(await callable(again.key)).toEqual([...before.models, again.sandboxes!.chat].toSorted())
})
