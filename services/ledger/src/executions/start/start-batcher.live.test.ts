import { describe, expect } from 'vitest'
import type { Deps } from '../../deps.ts'
import { keepLocked } from '../../fixtures/keep-locked.ts'
import { openTenant, untilBlocked, walletOf } from '../../fixtures/ledger-test.ts'
import { recordAsset } from '../../assets/assets.ts'
import { passBarrier } from '../../wallets/wallets.ts'
import { codeOf, mint, openEngine, question } from '../../fixtures/engine.ts'
import { MEDIA, test } from '../../fixtures/start-test.ts'
import { chain, oneCall, publishProduct, saveRevision } from '../../fixtures/sandbox-products.ts'

const callerOf = ({ hash }: { hash: string }) => ({ keyHash: hash, selector: null })

describe('starting an execution with a key', () => {
  test('returns the started execution and records that the key was used', async ({ engine, tenant, save }) => {
    const sandbox = await save()
    const asked = question(tenant.key, sandbox)
    const started = {
      kind: 'started',
      execution: asked.id,
      project: tenant.project.id,
      key: tenant.key.id,
      sandbox,
      revision: 1,
      replayed: false,
      textField: null,
    }
    expect(await engine.start(asked)).toEqual(started)
    expect(engine.used).toContain(tenant.key.id)
    expect(await engine.start(asked)).toEqual(started) // safe to repeat
    expect(engine.jobs.filter(({ execution }) => execution === asked.id)).toHaveLength(1)
  })

  test('is refused if the key is not valid [key_invalid] [key_revoked] [key_expired] [key_unbound]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const sandbox = await save()
    const key = (more: object) => fixture.key({ project: tenant.project, by: tenant.owners.owner, ...more })
    const anonymous = { ...tenant.key, hash: 'f'.repeat(64) }
    expect(codeOf(await ask(sandbox, {}, anonymous))).toBe('key_invalid')
    expect(codeOf(await ask(sandbox, {}, await key({ revoked: true })))).toBe('key_revoked')
    expect(codeOf(await ask(sandbox, {}, await key({ expiresInMs: -1_000 })))).toBe('key_expired')
    const unbound = await fixture.key({ project: null, tenant: tenant.owners.tenant, by: tenant.owners.owner })
    expect(codeOf(await ask(sandbox, {}, unbound))).toBe('key_unbound')
  })

  // spec: 4.3/s6
  test('is refused once the key’s creator lost the role [key_issuer_denied], or if another project is named [project_mismatch]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const sandbox = await save()
    const issuer = await fixture.issuer(tenant.project)
    const key = await fixture.key({ project: tenant.project, by: issuer })
    expect(codeOf(await ask(sandbox, {}, key))).toBe('started')
    await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [issuer])
    expect(codeOf(await ask(sandbox, {}, key))).toBe('key_issuer_denied')
    const caller = { keyHash: tenant.key.hash, selector: 'prj_other' }
    expect(await ask(sandbox, { caller })).toEqual({
      refused: { code: 'project_mismatch', facts: { project: tenant.project.id } },
    })
  })

  // spec: 4.3/s4, 4.3/s5
  test('finds only the flows of the key’s project [sandbox_not_found] [model_not_found]', async ({
    fixture,
    save,
    ask,
  }) => {
    const other = await openTenant(fixture)
    const sandbox = await save()
    for (const id of [sandbox, 'sbx-none']) {
      expect(await ask(id, {}, other.key)).toEqual({ refused: { code: 'sandbox_not_found', facts: { sandbox: id } } })
      expect(await ask(id, { surface: 'chat', input: 'x' }, other.key)).toEqual({
        refused: { code: 'model_not_found', facts: { model: id } },
      })
    }
  })

  test('needs a listed key to list the flow and every product in it [key_scope]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const sandbox = await save(oneCall(tenant.product))
    const key = (...resources: string[]) =>
      fixture.key({ project: tenant.project, by: tenant.owners.owner, policy: 'listed', resources })
    const scope = (resource: string) => ({ refused: { code: 'key_scope', facts: { resource } } })
    expect(await ask(sandbox, {}, await key(tenant.product))).toEqual(scope(sandbox))
    expect(await ask(sandbox, {}, await key(sandbox))).toEqual(scope(tenant.product))
    expect(codeOf(await ask(sandbox, {}, await key(sandbox, tenant.product)))).toBe('started')
  })

  // spec: 3.1/r6, 3.1/s1, 4.3/s8, 4.3/s9
  test('runs only the active revision [revision_not_active]', async ({ fixture, tenant, save, ask }) => {
    const sandbox = await save()
    await saveRevision(fixture, sandbox, tenant.owners.owner, { graph: chain(1), activate: false })
    expect(codeOf(await ask(sandbox, { revision: 1 }))).toBe('started')
    expect(await ask(sandbox, { revision: 2 })).toEqual({
      refused: { code: 'revision_not_active', facts: { revision: 2, activeRevision: 1, suspended: false } },
    })
    expect(codeOf(await ask(await save(chain(0), { activate: false })))).toBe('revision_not_active')
    const suspended = await save(chain(0), { suspended: true })
    expect(await ask(suspended)).toMatchObject({ refused: { code: 'revision_not_active', facts: { suspended: true } } })
    expect(codeOf(await ask(suspended, { surface: 'chat', input: 'x' }))).toBe('model_not_found')
  })

  // spec: 4.3/s11
  test('refuses input that does not fit the contract, before any charge [input_type]', async ({
    save,
    ask,
    replica,
    tenant,
  }) => {
    const sandbox = await save(oneCall(tenant.product))
    for (const input of [{}, { text: 5 }, { text: 'x', more: 1 }, 'text', null, [], { text: 'x'.repeat(65_537) }])
      expect(codeOf(await ask(sandbox, { input }))).toBe('input_type')
    expect(await ask(sandbox, { input: { text: 5 } })).toMatchObject({
      refused: { facts: { fields: [{ field: 'text', message: expect.any(String) as string }] } },
    })
    expect(codeOf(await ask(sandbox, { input: { text: 'x'.repeat(65_536) } }))).toBe('started')
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })

  test('accepts only assets of the project as input, with their stored type and size [input_type]', async ({
    fixture,
    engine,
    tenant,
    save,
    ask,
  }) => {
    const sandbox = await save(MEDIA)
    const other = await openTenant(fixture)
    const asset = async (project: string, mimeType: string) => {
      const id = mint('ast')
      await fixture.run('INSERT INTO money.assets (id, project, mime_type, bytes) VALUES ($1, $2, $3, 77)', [
        id,
        project,
        mimeType,
      ])
      return id
    }
    const mine = await asset(tenant.project.id, 'image/png')
    const wrong = [await asset(other.project.id, 'image/png'), await asset(tenant.project.id, 'audio/wav'), 'ast_none']
    for (const id of wrong)
      expect(codeOf(await ask(sandbox, { input: { n: 1, picture: { asset: id } } }))).toBe('input_type')
    const id = mint('exe')
    await ask(sandbox, { id, input: { n: 1, picture: { asset: mine, mimeType: 'image/jpeg', bytes: 1 } } })
    expect((await engine.record(id)).nodes[0]!.output).toEqual({
      n: 1,
      picture: { asset: mine, mimeType: 'image/png', bytes: 77 },
    })
    expect(codeOf(await ask(sandbox, { input: { n: 1 } }))).toBe('started')
  })

  test('needs a balance in the wallet and, with paid nodes, room in the spending window [insufficient_budget] [key_limit]', async ({
    fixture,
    tenant,
    replica,
    save,
    ask,
    engine,
  }) => {
    const paid = await save(oneCall(tenant.product))
    const empty = await fixture.project(tenant.owners)
    const by = { project: empty, by: tenant.owners.owner }
    const graph = { graph: oneCall(tenant.product) }
    const broke = await publishProduct(fixture, empty.id, tenant.owners.owner, graph)
    await fixture.assign(empty.id, tenant.product)
    const free = await publishProduct(fixture, empty.id, tenant.owners.owner, { graph: chain(0) })
    for (const sandbox of [broke, free])
      expect(await ask(sandbox, {}, await fixture.key(by))).toEqual({
        refused: {
          code: 'insufficient_budget',
          facts: { availableMicro: 0, reservedMicro: 0, neededMicro: 1, affordableMaxTokens: 0 },
        },
      })
    await fixture.fund(empty.id, 1n)
    expect(codeOf(await ask(free, {}, await fixture.key(by)))).toBe('started')

    const limited = await fixture.key({
      project: tenant.project,
      by: tenant.owners.owner,
      limit: { micro: 10n, reset: 'daily' },
    })
    const call = replica.item(limited, tenant.product, { maxTokens: 10 })
    await replica.admit(call)
    expect(codeOf(await ask(paid, {}, limited))).toBe('started') // the call may settle for less
    await replica.settle(call.id)
    expect(await ask(paid, {}, limited)).toMatchObject({
      refused: {
        code: 'key_limit',
        facts: { reset: 'daily', limitMicro: 10, spentMicro: 10, reservedMicro: 0, neededMicro: 1 },
      },
    })
    expect(codeOf(await ask(await save(), {}, limited))).toBe('started')
    expect(engine.quarantined).toEqual([])
  })

  test('is refused beyond the limit of open executions per project [overloaded]', async ({
    database,
    tenant,
    save,
    fixture,
  }) => {
    const small = await openEngine(database.ledgerUrl, { openExecutions: 5 })
    const sandbox = await save()
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => small.start(question(tenant.key, sandbox))))
    expect(outcomes.map(codeOf).toSorted()).toEqual([
      ...Array<string>(3).fill('overloaded'),
      ...Array<string>(5).fill('started'),
    ])
    const other = await openTenant(fixture)
    const theirs = await publishProduct(fixture, other.project.id, other.owners.owner, { graph: chain(0) })
    expect(codeOf(await small.start(question(other.key, theirs)))).toBe('started')
    await small.close()
  })

  test('is refused beyond the limit of waiting starts [overloaded]', async ({ database, tenant, save }) => {
    const small = await openEngine(database.ledgerUrl, { waitingStarts: 2 })
    const sandbox = await save()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => small.start(question(tenant.key, sandbox))))
    expect(outcomes.map(codeOf).filter((code) => code === 'overloaded')).toHaveLength(8)
    await small.close()
  })
})

describe('a start in progress', () => {
  const barred = (engine: Pick<Deps, 'reads'>) => ({
    reads: engine.reads,
    notifier: { notify() {}, sent: async () => {} } as unknown as Deps['notifier'],
  })

  test.for([
    ['revision_not_active', 'UPDATE control.sandboxes SET suspended = true WHERE id = $1'],
    ['key_revoked', 'UPDATE control.keys SET revoked_at = now() WHERE id = $2'],
    ['key_issuer_denied', 'DELETE FROM control.project_grants WHERE user_id = $3'],
  ] as const)(
    'is refused if its permission ends and the barrier passes before it is written [%s]',
    async ([code, sql], { database, engine, fixture, tenant, save, ask }) => {
      const sandbox = await save(MEDIA)
      const by = await fixture.issuer(tenant.project)
      const key = await fixture.key({ project: tenant.project, by })
      const asset = fixture.id('ast')
      const caller = callerOf(key)
      await recordAsset({ ...engine, quotas: {} }, { id: asset, caller, mimeType: 'image/png', bytes: 12 })
      const letGo = await keepLocked(database.adminUrl, 'LOCK TABLE money.assets IN ACCESS EXCLUSIVE MODE')
      const started = ask(sandbox, { input: { n: 1, picture: { asset } } }, key)
      await untilBlocked(fixture, started) // it has read what permits it, and now reads its input
      await fixture.run(`WITH given AS (SELECT $1::text, $2::text, $3::text) ${sql}`, [sandbox, key.id, by])
      await passBarrier(barred(engine), { projects: [tenant.project.id] })
      await letGo()
      expect(codeOf(await started)).toBe(code)
    },
  )

  test('of a user is not written once its project has been deleted', async ({
    database,
    engine,
    fixture,
    tenant,
    save,
  }) => {
    const sandbox = await save(MEDIA)
    const asset = fixture.id('ast')
    await recordAsset(
      { ...engine, quotas: {} },
      { id: asset, caller: callerOf(tenant.key), mimeType: 'image/png', bytes: 12 },
    )
    const caller = { user: tenant.owners.owner, project: tenant.project.id }
    const letGo = await keepLocked(database.adminUrl, 'LOCK TABLE money.assets IN ACCESS EXCLUSIVE MODE')
    const started = engine.start(question(tenant.key, sandbox, { caller, input: { n: 1, picture: { asset } } }))
    await untilBlocked(fixture, started) // it has read its sandbox, and now reads its input
    for (const sql of [
      'UPDATE control.sandboxes SET active_revision = NULL, activated_at = NULL WHERE id = $1',
      'DELETE FROM control.revisions WHERE sandbox = $1',
      'DELETE FROM control.sandboxes WHERE id = $1',
    ])
      await fixture.run(sql, [sandbox])
    await letGo()
    expect(codeOf(await started)).toBe('sandbox_not_found')
  })
})
