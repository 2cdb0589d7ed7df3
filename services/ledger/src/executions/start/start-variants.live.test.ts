import { describe, expect } from 'vitest'
import { openTenant } from '../../fixtures/ledger-test.ts'
import { codeOf, ending, failing, idempotencyOf, mint, openEngine, question, takeNext } from '../../fixtures/engine.ts'
import { MEDIA, test } from '../../fixtures/start-test.ts'
import { TEXT, chain, oneCall, publishProduct, saveRevision } from '../../fixtures/sandbox-products.ts'

describe('an idempotency key', () => {
  // spec: 4.3/s7
  test('starts one execution if 100 concurrent requests on two replicas use it', async ({
    engine,
    twin,
    tenant,
    save,
    fixture,
  }) => {
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

  test('starts another execution for another sandbox or project, and is refused with another request [idempotency_mismatch]', async ({
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

  test('when repeated, checks key, issuer, target and allowlist again, but not wallet, window or revision', async ({
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
    expect(engine.quarantined).toEqual([])
  })

  test('when repeated, needs the products that its execution calls, not those of a revision activated since [key_scope]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const added = await fixture.publishProduct()
    await fixture.assign(tenant.project.id, added)
    const by = tenant.owners.owner
    const sandbox = await save(oneCall(tenant.product))
    const key = await fixture.key({
      project: tenant.project,
      by,
      policy: 'listed',
      resources: [sandbox, tenant.product],
    })
    const id = mint('exe')
    const asked = [
      { id, idempotency: idempotencyOf('an invocation') },
      { surface: 'chat', input: 'hello', idempotency: idempotencyOf('a chat') },
    ] as const
    const first = [await ask(sandbox, asked[0], key), await ask(sandbox, asked[1], key)]
    expect(first.map(codeOf)).toEqual(['started', 'started'])
    await saveRevision(fixture, sandbox, by, { graph: oneCall(added) })
    expect(await ask(sandbox, {}, key)).toEqual({ refused: { code: 'key_scope', facts: { resource: added } } })
    expect(await ask(sandbox, asked[0], key)).toEqual(first[0]) // sent again under its id
    for (const [n, more] of asked.entries())
      expect(await ask(sandbox, { ...more, id: mint('exe') }, key)).toEqual({ ...first[n], replayed: true })
    await fixture.run('DELETE FROM control.key_resources WHERE key = $1 AND resource = $2', [key.id, tenant.product])
    expect(codeOf(await ask(sandbox, { ...asked[0], id: mint('exe') }, key))).toBe('key_scope')
  })

  test('is refused once its execution is no longer kept [answer_not_kept]', async ({ fixture, save, ask }) => {
    const sandbox = await save()
    const idempotency = idempotencyOf('long ago')
    const first = await ask(sandbox, { idempotency })
    await fixture.run('DELETE FROM money.executions WHERE id = $1', ['execution' in first && first.execution])
    expect(codeOf(await ask(sandbox, { idempotency }))).toBe('answer_not_kept')
  })
})

describe('a flow as a chat model', () => {
  test('receives the text as its only field, and names the field that holds the answer', async ({
    engine,
    save,
    ask,
  }) => {
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

  test('waits for a worker as long as a chat client does: 60 seconds instead of 900', async ({
    save,
    ask,
    fixture,
  }) => {
    const sandbox = await save()
    for (const surface of ['chat', 'invoke'] as const)
      await ask(sandbox, { surface, input: surface === 'chat' ? 'hello' : { text: 'hello' } })
    const { rows } = await fixture.run(
      `SELECT surface, extract(epoch FROM deadline_at - created_at)::int AS waits FROM money.executions WHERE sandbox = $1 ORDER BY 1`,
      [sandbox],
    )
    expect(rows).toEqual([
      { surface: 'chat', waits: 60 },
      { surface: 'invoke', waits: 900 },
    ])
  })

  test('must have one text input and one text output [sandbox_contract]', async ({ save, ask }) => {
    const sandbox = await save(MEDIA)
    expect(await ask(sandbox, { surface: 'chat', input: 'hello' })).toEqual({
      refused: { code: 'sandbox_contract', facts: { sandbox } },
    })
  })
})

describe('starting an execution in the console', () => {
  test('accepts any valid revision and needs only the wallet, no key', async ({
    fixture,
    tenant,
    engine,
    save,
    ask,
  }) => {
    const sandbox = await save(chain(0), { activate: false })
    const caller = { user: tenant.owners.owner, project: tenant.project.id }
    const id = mint('exe')
    expect(await ask(sandbox, { id, caller, revision: 1 })).toMatchObject({ kind: 'started', revision: 1 })
    const { rows } = await fixture.run('SELECT key, lineage, user_id FROM money.executions WHERE id = $1', [id])
    expect(rows).toEqual([{ key: null, lineage: null, user_id: tenant.owners.owner }])
    expect(codeOf(await ask(sandbox, { caller }))).toBe('revision_not_active')
    expect(codeOf(await ask(sandbox, { caller, revision: 2 }))).toBe('revision_not_active')
    expect(codeOf(await ask(sandbox, { caller: { ...caller, project: 'prj_x' }, revision: 1 }))).toBe(
      'sandbox_not_found',
    )
    expect(engine.quarantined).toEqual([])
  })

  test('needs a balance in the wallet, even if it is free [insufficient_budget]', async ({ fixture, tenant, ask }) => {
    const empty = await fixture.project(tenant.owners)
    const { owner } = tenant.owners
    const free = await publishProduct(fixture, empty.id, owner, { graph: chain(0) })
    const answer = await ask(free, { caller: { user: owner, project: empty.id } })
    expect(answer).toMatchObject({ refused: { code: 'insufficient_budget', facts: { neededMicro: 1 } } })
  })

  test('is refused with the problems of a draft [graph_invalid] or the product that is not assigned [product_not_assigned]', async ({
    fixture,
    tenant,
    save,
    ask,
  }) => {
    const caller = { user: tenant.owners.owner, project: tenant.project.id }
    const draft = await save({ ...chain(0), input: TEXT }, { problem: 'The node out has no text.' })
    expect(await ask(draft, { caller, revision: 1 })).toEqual({
      refused: { code: 'graph_invalid', facts: { problems: [{ message: 'The node out has no text.' }] } },
    })
    const product = await fixture.product()
    const sandbox = await save(oneCall(product))
    expect(await ask(sandbox, { caller })).toEqual({ refused: { code: 'product_not_assigned', facts: { product } } })
    expect(await ask(sandbox)).toEqual({ refused: { code: 'product_not_assigned', facts: { product } } })
    const model = await ask(sandbox, { surface: 'chat', input: 'Hello' })
    expect(model).toEqual({ refused: { code: 'model_not_found', facts: { model: sandbox } } })
  })
})

describe('an execution that has ended', () => {
  test('no longer counts as open', async ({ database, tenant, save }) => {
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
