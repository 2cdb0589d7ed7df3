import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { mintId } from '@gateway/api/ids'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { openRequestSigner } from '@gateway/ledger-client/service-token'
import { liveTest } from '@gateway/testbed/live-test'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { pooledSessions } from '@gateway/testbed/pooled-sessions'
import { openFixture } from '@gateway/testbed/fixture'
import { openLedger, secrets } from './fixtures/open-ledger.ts'

// The whole ledger: its HTTP server, its maintenance jobs and its command.

const test = liveTest
  .extend('fixture', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const fixture = await openFixture(database.adminUrl)
    onCleanup(fixture.close)
    return fixture
  })
  .extend('ledger', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
    const ledger = await openLedger({ database, redis }, { CHECK_EVERY_SECONDS: '1', RELEASE_GRACE_MS: '1000' })
    onCleanup(ledger.stop)
    return ledger
  })
  .extend('gateway', { scope: 'file' }, async ({ ledger }, { onCleanup }) => {
    const client = openLedgerClient({ url: ledger.url, service: 'gateway', privateKey: secrets.gateway })
    onCleanup(client.close)
    return client
  })
  .extend('tenant', async ({ fixture }) => {
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 1_000_000n)
    const model = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(project.id, model)
    return { project: project.id, model, key: await fixture.key({ project, by: owners.owner }) }
  })

const newId = <P extends string>(prefix: P) => mintId(prefix, Date.now(), randomBytes(10))
const admission = (instance: string, tenant: { model: string; key: { hash: string } }) => ({
  id: newId('inv'),
  instance,
  keyHash: tenant.key.hash,
  selector: null,
  model: tenant.model,
  parameters: [],
  promptSize: { bytes: 100, messages: 1, tools: 0, images: 0, counted: null, maxTokens: 100 },
  idempotency: null,
})

// Concurrent, because these tests wait for the turn of a maintenance job (D2 of reservation-reaper.ts).

describe.concurrent('maintenance', () => {
  test('releases a call past its deadline even if its instance is alive', async ({ gateway, tenant, fixture }) => {
    const instance = newId('ins')
    await gateway.heartbeat({ instance, service: 'gateway', deadAfterMs: 60_000 })
    const item = admission(instance, tenant)
    await gateway.admit(item, { budgetMs: 10_000 })
    await fixture.run(`UPDATE money.reservations SET deadline_at = now() WHERE id = $1`, [item.id])
    await until(
      async () =>
        (await fixture.run('SELECT FROM money.attempts WHERE id = $1 AND state = $2', [item.id, 'Released']))
          .rowCount === 1,
    )
  })

  test('releases the reservations of a stopped instance', async ({ gateway, tenant, fixture }) => {
    const instance = newId('ins')
    await gateway.heartbeat({ instance, service: 'gateway', deadAfterMs: 15_000 })
    const item = admission(instance, tenant)
    await gateway.admit(item, { budgetMs: 10_000 })
    await gateway.endInstance({ instance })
    await until(
      async () =>
        (await fixture.run('SELECT FROM money.attempts WHERE id = $1 AND state = $2', [item.id, 'Released']))
          .rowCount === 1,
    )
    expect(await gateway.heartbeat({ instance, service: 'gateway', deadAfterMs: 15_000 })).toEqual({ alive: false })
  })

  test('ends a silent instance and releases its reservations', async ({ gateway, tenant, fixture }) => {
    const instance = newId('ins')
    await gateway.heartbeat({ instance, service: 'gateway', deadAfterMs: 1_000 })
    const item = admission(instance, tenant)
    await gateway.admit(item, { budgetMs: 10_000 })
    await until(
      async () =>
        (await fixture.run('SELECT FROM money.attempts WHERE id = $1 AND state = $2', [item.id, 'Released']))
          .rowCount === 1,
    )
  })
})

describe.concurrent('the HTTP server', () => {
  const post = (url: string, token: string | null, body: string) =>
    fetch(url, { method: 'POST', headers: token ? { authorization: `Bearer ${token}` } : {}, body })

  test('rejects requests without a valid service token, and services not allowed to call the route', async ({
    ledger,
  }) => {
    const tokenOf = (service: ServiceName, route: string, privateKey = secrets[service]) =>
      openRequestSigner({ service, privateKey, now: Date.now }).sign(route, '{}')
    const status = async (route: string, token: string | null) =>
      (await post(`${ledger.url}${route}`, token, '{}')).status
    expect(await status('/models', null)).toBe(401)
    expect(await status('/models', 'nonsense')).toBe(401)
    expect(await status('/models', tokenOf('gateway', '/models', newServiceKeys().privateKey))).toBe(401)
    expect(await status('/models', tokenOf('gateway', '/models', secrets.console))).toBe(401)
    const by = (service: ServiceName, route: string) => status(route, tokenOf(service, route))
    expect(await by('gateway', '/fundings')).toBe(403)
    expect(await by('gateway', '/corrections')).toBe(403)
    expect(await by('worker', '/webhooks/deliveries/record')).toBe(400) // allowed, but no deliveries
    expect(await by('gateway', '/executions/start')).toBe(404) // only on a channel
    expect(await by('console', '/nowhere')).toBe(404)
  })

  test('a captured token can only repeat its request, which changes nothing', async ({ ledger, tenant, fixture }) => {
    const funding = { project: tenant.project, fundingId: 'captured', micro: 1_000_000, fundedBy: 'usr_test' }
    const body = JSON.stringify(funding)
    const token = openRequestSigner({ service: 'console', privateKey: secrets.console, now: Date.now }).sign(
      '/fundings',
      body,
    )
    const answerOf = async (response: Response) => [response.status, await response.json()]
    const send = async (route: string, sent: string) => answerOf(await post(ledger.url + route, token, sent))
    expect(await send('/fundings', body)).toEqual([200, expect.objectContaining({ fresh: true })])

    const refused = [401, { error: expect.stringContaining('A service token for this request is needed') }]
    for (const other of [body.replace('1000000', '9000000'), body.replace('captured', 'another'), `${body} `, '', '{}'])
      expect([other, ...(await send('/fundings', other))]).toEqual([other, ...refused])
    expect(await send('/corrections', body)).toEqual(refused)
    expect(await send('/wallets/read', JSON.stringify({ project: tenant.project }))).toEqual(refused)

    expect(await send('/fundings', body)).toEqual([200, expect.objectContaining({ fresh: false })])
    const { rows } = await fixture.run('SELECT funded FROM money.wallets WHERE project = $1', [tenant.project])
    expect(rows).toEqual([{ funded: '2000000' }]) // what the project began with, and this once
  })

  test('admits and settles 300 concurrent calls through the client', async ({ gateway, tenant, fixture }) => {
    const instance = newId('ins')
    expect(await gateway.heartbeat({ instance, service: 'gateway', deadAfterMs: 15_000 })).toEqual({ alive: true })
    const charges = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const item = admission(instance, tenant)
        expect(await gateway.admit(item, { budgetMs: 10_000 })).toMatchObject({
          kind: 'admitted',
          project: tenant.project,
        })
        const outcome = await gateway.settle({
          id: item.id,
          usage: { promptTokens: 1, completionTokens: 3, estimated: false },
          answer: null,
        })
        return outcome.kind === 'settled' ? outcome.chargedMicro : -1
      }),
    )
    expect(new Set(charges)).toEqual(new Set([3]))
    const { rows } = await fixture.run('SELECT reserved, settled FROM money.wallets WHERE project = $1', [
      tenant.project,
    ])
    expect(rows).toEqual([{ reserved: '0', settled: '900' }])
  })

  test('lists the models that a key may call', async ({ gateway, tenant }) => {
    expect(await gateway.models({ keyHash: tenant.key.hash, selector: null })).toMatchObject({
      entries: [{ id: tenant.model, pricing: { unit: 'tokens', prompt: '0', completion: '0.000001' } }],
    })
    expect(await gateway.models({ keyHash: 'f'.repeat(64), selector: null })).toMatchObject({
      refused: { code: 'key_invalid' },
    })
  })
})

describe.concurrent('npm run ledger check', () => {
  test('compares the books with an anchor taken by the ledger', async ({ ledger, database, tenant, fixture }) => {
    const env = { DATABASE_URL: database.ledgerUrl }
    await fixture.fund(tenant.project, 5n)
    const taken = async () => {
      const { rows } = await fixture.run(
        `SELECT a.number || ':' || encode(a.root, 'hex') AS text FROM money.anchors a
          WHERE EXISTS (SELECT FROM money.anchored_heads h WHERE h.anchor = a.number AND h.project = $1 AND h.seq = 2)`,
        [tenant.project],
      )
      return (rows as { text: string }[])[0]?.text
    }
    await until(async () => (await taken()) !== undefined)
    const anchor = (await taken())!
    await until(async () => readFileSync(ledger.logFile, 'utf8').includes(anchor))
    expect(await run(['check', '--against', anchor, tenant.project], env)).toMatchObject({ code: 0 })
    const other = anchor.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    expect(await run(['check', '--against', other, tenant.project], env)).toMatchObject({
      code: 1,
      said: expect.stringContaining('the books differ from the anchor'),
    })
  })

  test('prepares no statements if PREPARED_STATEMENTS is off', async ({ database, tenant, fixture }) => {
    const env = { DATABASE_URL: await pooledSessions(fixture.run, database.ledgerUrl) }
    const words = ['check', tenant.project]
    expect(await run(words, env)).toMatchObject({
      code: 69,
      said: expect.stringContaining('already exists') as string,
    })
    expect(await run(words, { ...env, PREPARED_STATEMENTS: 'false' })).toMatchObject({ code: 0 })
  })

  test('exits with a usage or configuration error and never prints the database password', async ({ database }) => {
    const unreachable = { DATABASE_URL: 'postgres://none:secret@127.0.0.1:1/none' }
    const said = await Promise.all([
      run(['chekc'], {}),
      run(['check', '--hole'], {}),
      run(['check'], {}),
      run(['check'], unreachable),
      run(['check'], { DATABASE_URL_FILE: '/nowhere' }),
      run(['check', 'prj_nowhere'], { DATABASE_URL: database.ledgerUrl }),
    ])
    expect(said).toMatchObject([
      { code: 64, said: expect.stringContaining('npm run ledger -- check') as string },
      { code: 64, said: expect.stringContaining('Unknown option --hole') as string },
      { code: 69, said: expect.stringContaining('DATABASE_URL is not set') as string },
      { code: 69, said: expect.not.stringContaining('secret') as string },
      { code: 78, said: expect.stringContaining("can't be read from /nowhere") as string },
      { code: 69, said: 'There is no wallet of prj_nowhere.\n' },
    ])
  })
})

describe('books that do not add up', () => {
  test('make `ledger check` name the wrong amount and exit with 1', async ({ database, tenant, fixture }) => {
    const env = { DATABASE_URL: database.ledgerUrl }
    expect(await run(['check', tenant.project], env)).toMatchObject({
      code: 0,
      said: '1 wallets checked, 0 findings\n',
    })
    const file = path.join(await temporaryFolder('ledger-check'), 'database-url')
    await writeFile(file, `${database.ledgerUrl}\n`)
    expect(await run(['check', tenant.project], { DATABASE_URL_FILE: file })).toMatchObject({ code: 0 })
    await fixture.run('UPDATE money.wallets SET settled = settled + 7 WHERE project = $1', [tenant.project])
    const found = await run(['check', '--whole', tenant.project], env)
    expect(found).toMatchObject({
      code: 1,
      said: expect.stringContaining('settled differs from the journal: expected 0, found 7 micro-USD'),
    })
    await fixture.run('UPDATE money.wallets SET settled = settled - 7 WHERE project = $1', [tenant.project])
  })

  test('are all named by `ledger check`, also those that cannot be read, and it exits with 1', async ({
    database,
    tenant,
    fixture,
    onTestFinished,
  }) => {
    const unreadable = tenant.project
    const { id: wrong } = await fixture.project(await fixture.tenant(), 1n)
    onTestFinished(async () => {
      await fixture.run('UPDATE money.wallets SET funded = 1 WHERE project = $1', [wrong])
      await fixture.run('SET session_replication_role = replica')
      await fixture.run(`DELETE FROM money.journal WHERE project = $1 AND reference = 'too much'`, [unreadable])
      await fixture.run('SET session_replication_role = origin')
    })
    // The sum of these amounts exceeds a bigint, so reading the usage of this wallet fails.
    await fixture.run(
      `INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
       SELECT $1, 1000 + n, 'settle', 'too much', 0, 0, 9e18, -9e18, now() FROM generate_series(1, 2) n`,
      [unreadable],
    )
    await fixture.run('UPDATE money.wallets SET funded = funded + 7 WHERE project = $1', [wrong])
    const { code, said } = await run(['check', unreadable, wrong], { DATABASE_URL: database.ledgerUrl })
    expect(code).toBe(1)
    expect(said).toMatch(new RegExp(`^check of ${unreadable} failed: .*bigint out of range`, 'm'))
    expect(said).toContain(`${wrong}: wallet ${wrong}: funded differs from the journal`)
    expect(said).toMatch(/^1 wallets checked, \d+ findings, 1 check failed\n$/m)
    expect(said).not.toContain('no entry since their last check')
  })

  test('are reported by the ledger_check_findings metric until they are corrected', async ({
    ledger,
    tenant,
    fixture,
  }) => {
    const findings = async () =>
      Number(
        /^ledger_check_findings(?:\{[^}]*\})? (\d+)/m.exec(
          await (await fetch(`${ledger.metricsUrl}/metrics`)).text(),
        )?.[1] ?? NaN,
      )
    await until(async () => (await findings()) === 0)
    await fixture.run('UPDATE money.wallets SET funded = funded + 1 WHERE project = $1', [tenant.project])
    await until(async () => (await findings()) === 1)
    await fixture.run('UPDATE money.wallets SET funded = funded - 1 WHERE project = $1', [tenant.project])
    await until(async () => (await findings()) === 0)
  })
})

async function run(words: string[], env: Record<string, string>): Promise<{ code: number; said: string }> {
  const command = promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'command.ts'), ...words], {
    env,
  })
  return command.then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, said: stdout + stderr }),
  )
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
}
