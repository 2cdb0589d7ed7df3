import { describe, expect } from 'vitest'
import type { StartQuestion } from '@gateway/contracts/flow-reads'
import type { Graph } from '@gateway/contracts/graph'
import { openTenant, walletOf } from '../../fixtures/ledger-test.ts'
import { codeOf, ending, failing, idempotencyOf, mint, openEngine, question, takeNext } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { TEXT, chain, oneCall, publishProduct, saveRevision } from '../../fixtures/sandbox-products.ts'

const test = ledgerTest
  .extend(
    'save',
    ({ tenant, fixture }) =>
      (graph: Graph = chain(0), more = {}) =>
        publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph, ...more }),
  )
  /** What the start of a run answers, by the shop's key. */
  .extend(
    'ask',
    ({ engine, tenant }) =>
      (sandbox: string, more: Partial<StartQuestion> = {}, key = tenant.key) =>
        engine.start(question(key, sandbox, more)),
  )

const MEDIA: Graph = {
  input: {
    type: 'object',
    properties: { picture: { type: 'object', format: 'image' }, n: { type: 'number' } },
    required: ['n'],
  },
  output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'out', kind: 'output' },
  ],
  edges: [{ from: 'in.n', to: 'out.n' }],
}

describe('the start of a run by key', () => {
  test('answers what was begun, and notes that the key was used', async ({ engine, tenant, save }) => {
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

  test('is refused to a key that no longer stands [key_invalid] [key_revoked] [key_expired] [key_unbound]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const sandbox = await save()
    const key = (more: object) => fixture.key({ project: tenant.project, by: tenant.owners.owner, ...more })
    const nobody = { ...tenant.key, hash: 'f'.repeat(64) }
    expect(codeOf(await ask(sandbox, {}, nobody))).toBe('key_invalid')
    expect(codeOf(await ask(sandbox, {}, await key({ revoked: true })))).toBe('key_revoked')
    expect(codeOf(await ask(sandbox, {}, await key({ expiresInMs: -1_000 })))).toBe('key_expired')
    const unbound = await fixture.key({ project: null, tenant: tenant.owners.tenant, by: tenant.owners.owner })
    expect(codeOf(await ask(sandbox, {}, unbound))).toBe('key_unbound')
  })

  test('is refused once its creator lost a right [key_issuer_denied], and to another project’s name [project_mismatch]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const sandbox = await save()
    const issuer = await fixture.issuer(tenant.project)
    const key = await fixture.key({ project: tenant.project, by: issuer })
    expect(codeOf(await ask(sandbox, {}, key))).toBe('started')
    await fixture.run('DELETE FROM control.project_grants WHERE person = $1', [issuer])
    expect(codeOf(await ask(sandbox, {}, key))).toBe('key_issuer_denied')
    const caller = { keyHash: tenant.key.hash, selector: 'prj_other' }
    expect(await ask(sandbox, { caller })).toEqual({
      refused: { code: 'project_mismatch', facts: { project: tenant.project.id } },
    })
  })

  test('finds only what its project has [sandbox_not_found] [model_not_found]', async ({ fixture, save, ask }) => {
    const other = await openTenant(fixture)
    const sandbox = await save()
    for (const id of [sandbox, 'sbx-none']) {
      expect(await ask(id, {}, other.key)).toEqual({ refused: { code: 'sandbox_not_found', facts: { sandbox: id } } })
      expect(await ask(id, { surface: 'chat', input: 'x' }, other.key)).toEqual({
        refused: { code: 'model_not_found', facts: { model: id } },
      })
    }
  })

  test('needs a listed key to list the flow and each product of it [key_scope]', async ({
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

  test('runs the active revision and no other [revision_not_active]', async ({ fixture, tenant, save, ask }) => {
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

  test('takes input that fits the contract, before any charge [input_type]', async ({ save, ask, replica, tenant }) => {
    const sandbox = await save(oneCall(tenant.product))
    for (const input of [{}, { text: 5 }, { text: 'x', more: 1 }, 'text', null, [], { text: 'x'.repeat(65_536) }])
      expect(codeOf(await ask(sandbox, { input }))).toBe('input_type')
    expect(await ask(sandbox, { input: { text: 5 } })).toMatchObject({
      refused: { facts: { fields: [{ field: 'text', message: expect.any(String) as string }] } },
    })
    expect(codeOf(await ask(sandbox, { input: { text: 'x'.repeat(65_534) } }))).toBe('started') // 64 KB with its quotes
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })

  test('puts the project’s own assets into its input, as they are stored [input_type]', async ({
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

  test('with paid nodes needs something in the wallet and in the window [insufficient_budget] [key_limit]', async ({
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
    expect(await ask(broke, {}, await fixture.key(by))).toEqual({
      refused: {
        code: 'insufficient_budget',
        facts: { availableMicro: 0, reservedMicro: 0, neededMicro: 1, affordableMaxTokens: 0 },
      },
    })
    const free = await publishProduct(fixture, empty.id, tenant.owners.owner, { graph: chain(0) })
    expect(codeOf(await ask(free, {}, await fixture.key(by)))).toBe('started')

    const limited = await fixture.key({
      project: tenant.project,
      by: tenant.owners.owner,
      limit: { micro: 10n, reset: 'daily' },
    })
    const call = replica.item(limited, tenant.product, { maxTokens: 10 })
    await replica.admit(call)
    await replica.settle(call.id)
    expect(await ask(paid, {}, limited)).toMatchObject({
      refused: {
        code: 'key_limit',
        facts: { reset: 'daily', limitMicro: 10, spentMicro: 10, reservedMicro: 0, neededMicro: 1 },
      },
    })
    expect(codeOf(await ask(await save(), {}, limited))).toBe('started')
    expect(engine.setAside).toEqual([])
  })

  test('has room for so many open runs of a project [overloaded]', async ({ database, tenant, save, fixture }) => {
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

  test('has room for so many that wait [overloaded]', async ({ database, tenant, save }) => {
    const small = await openEngine(database.ledgerUrl, { waitingStarts: 2 })
    const sandbox = await save()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => small.start(question(tenant.key, sandbox))))
    expect(outcomes.map(codeOf).filter((code) => code === 'overloaded')).toHaveLength(8)
    await small.close()
  })
})

describe('an idempotency key', () => {
  test('used by 100 at once on two replicas begins one run', async ({ engine, twin, tenant, save, fixture }) => {
    const sandbox = await save()
    const idempotency = idempotencyOf('one of many')
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        (n % 2 ? engine : twin).start(question(tenant.key, sandbox, { idempotency })),
      ),
    )
    const begun = new Set(answers.map((answer) => ('refused' in answer ? answer.refused.code : answer.execution)))
    expect(begun.size).toBe(1)
    expect(answers.filter((answer) => 'kind' in answer && !answer.replayed)).toHaveLength(1)
    const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [sandbox])
    expect(rows).toEqual([{ id: [...begun][0] }])
  })

  test('of another sandbox or another project is another run; with another request it is refused [idempotency_mismatch]', async ({
    fixture,
    save,
    ask,
  }) => {
    const [sandbox, other] = [await save(), await save()]
    const idempotency = idempotencyOf('the same key')
    const first = await ask(sandbox, { idempotency })
    expect(await ask(other, { idempotency })).toMatchObject({ replayed: false })
    const theirs = await openTenant(fixture)
    const away = await publishProduct(fixture, theirs.project.id, theirs.owners.owner, { graph: chain(0) })
    expect(await ask(away, { idempotency }, theirs.key)).toMatchObject({ replayed: false })
    expect(await ask(sandbox, { idempotency })).toEqual({ ...first, replayed: true })
    expect(codeOf(await ask(sandbox, { idempotency: idempotencyOf('the same key', { another: 'body' }) }))).toBe(
      'idempotency_mismatch',
    )
  })

  test('repeated asks again for key, issuer, target and allowlist, never for wallet, window or revision', async ({
    fixture,
    tenant,
    engine,
    ask,
  }) => {
    const project = await fixture.project(tenant.owners, 5n)
    await fixture.assign(project.id, tenant.product)
    const graph = oneCall(tenant.product)
    const sandbox = await publishProduct(fixture, project.id, tenant.owners.owner, { graph })
    const key = await fixture.key({
      project,
      by: tenant.owners.owner,
      policy: 'listed',
      resources: [sandbox, tenant.product],
      limit: { micro: 5n, reset: 'lifetime' },
    })
    const idempotency = idempotencyOf('again and again')
    const first = await ask(sandbox, { idempotency }, key)
    await fixture.run(`UPDATE money.wallets SET settled = funded WHERE project = $1`, [project.id])
    await fixture.run(
      `INSERT INTO money.meters (lineage, project, window_start, limit_micro, spent) VALUES ($1, $2, to_timestamp(0), 5, 5)`,
      [key.id, project.id],
    )
    expect(codeOf(await ask(sandbox, {}, key))).toBe('key_limit')
    await saveRevision(fixture, sandbox, tenant.owners.owner, { graph })
    await fixture.run('UPDATE control.sandboxes SET suspended = true WHERE id = $1', [sandbox])
    expect(await ask(sandbox, { idempotency }, key)).toEqual({ ...first, replayed: true })

    expect(await ask(sandbox, { idempotency, caller: { keyHash: key.hash, selector: 'prj_x' } })).toMatchObject({
      refused: { code: 'project_mismatch' },
    })
    await fixture.run('DELETE FROM control.key_resources WHERE key = $1 AND resource = $2', [key.id, tenant.product])
    expect(codeOf(await ask(sandbox, { idempotency }, key))).toBe('key_scope')
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [key.id])
    expect(codeOf(await ask(sandbox, { idempotency }, key))).toBe('key_revoked')
    expect(engine.setAside).toEqual([])
  })

  test('whose run is forgotten says so [answer_not_kept]', async ({ fixture, save, ask }) => {
    const sandbox = await save()
    const idempotency = idempotencyOf('long ago')
    const first = await ask(sandbox, { idempotency })
    await fixture.run('DELETE FROM money.executions WHERE id = $1', ['execution' in first && first.execution])
    expect(codeOf(await ask(sandbox, { idempotency }))).toBe('answer_not_kept')
  })
})

describe('a flow as a chat model', () => {
  test('takes the text as its one field, and says which field answers', async ({ engine, save, ask }) => {
    const sandbox = await save()
    const id = mint('exe')
    expect(await ask(sandbox, { id, surface: 'chat', input: 'hello' })).toMatchObject({
      kind: 'started',
      textField: 'text',
    })
    expect((await engine.record(id)).nodes[0]!.output).toEqual({ text: 'hello' })
    const idempotency = idempotencyOf('a chat')
    await ask(sandbox, { surface: 'chat', input: 'hello', idempotency })
    expect(await ask(sandbox, { surface: 'chat', input: 'hello', idempotency })).toMatchObject({
      replayed: true,
      textField: 'text',
    })
  })

  test('must have that contract [sandbox_contract]', async ({ save, ask }) => {
    const sandbox = await save(MEDIA)
    expect(await ask(sandbox, { surface: 'chat', input: 'hello' })).toEqual({
      refused: { code: 'sandbox_contract', facts: { sandbox } },
    })
  })
})

describe('the start of a run by a person in the console', () => {
  test('takes any valid revision, and the wallet alone', async ({ fixture, tenant, engine, save, ask }) => {
    const sandbox = await save(chain(0), { activate: false })
    const caller = { person: tenant.owners.owner, project: tenant.project.id }
    const id = mint('exe')
    expect(await ask(sandbox, { id, caller, revision: 1 })).toMatchObject({ kind: 'started', revision: 1 })
    const { rows } = await fixture.run('SELECT key, lineage, person FROM money.executions WHERE id = $1', [id])
    expect(rows).toEqual([{ key: null, lineage: null, person: tenant.owners.owner }])
    expect(codeOf(await ask(sandbox, { caller }))).toBe('revision_not_active')
    expect(codeOf(await ask(sandbox, { caller, revision: 2 }))).toBe('revision_not_active')
    expect(codeOf(await ask(sandbox, { caller: { ...caller, project: 'prj_x' }, revision: 1 }))).toBe(
      'sandbox_not_found',
    )
    expect(engine.setAside).toEqual([])
  })

  test('tells what is wrong with a draft [graph_invalid], and which product is not there [product_not_assigned]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const caller = { person: tenant.owners.owner, project: tenant.project.id }
    const draft = await save({ ...chain(0), input: TEXT }, { problem: 'The node out has no text.' })
    expect(await ask(draft, { caller, revision: 1 })).toEqual({
      refused: { code: 'graph_invalid', facts: { problems: [{ message: 'The node out has no text.' }] } },
    })
    const product = await fixture.product()
    const sandbox = await save(oneCall(product))
    expect(await ask(sandbox, { caller })).toEqual({ refused: { code: 'product_not_assigned', facts: { product } } })
    expect(codeOf(await ask(sandbox))).toBe('started') // a key's run meets it at the call
  })
})

describe('what has ended', () => {
  test('frees the room that it took', async ({ database, tenant, save }) => {
    const small = await openEngine(database.ledgerUrl, { openExecutions: 1 })
    const instance = await small.newInstance()
    const sandbox = await save()
    const asked = question(tenant.key, sandbox)
    await small.start(asked)
    expect(codeOf(await small.start(question(tenant.key, sandbox)))).toBe('overloaded')
    await small.complete(ending(await takeNext(small, instance, asked.id), { result: failing() }))
    expect(codeOf(await small.start(question(tenant.key, sandbox)))).toBe('started')
    await small.close()
  })
})
