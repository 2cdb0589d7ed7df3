import { describe, expect } from 'vitest'
import { readModels, readSandbox } from '../../catalogue/read-models.ts'
import { codeOf, ending, question, takeNext, type Engine } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { activatePackage, chain, oneCall, publishProduct } from '../../fixtures/sandbox-products.ts'

/** Returns the graph as another build of the same revision: the same nodes with a different text. */
const otherwise = (text: string) => {
  const graph = chain(1)
  return { ...graph, nodes: graph.nodes.map((node) => (node.id === 't0' ? { ...node, template: text } : node)) }
}

const test = ledgerTest.extend('template', ({ engine }) => async (execution: string, on: Engine = engine) => {
  const taken = await takeNext({ ...on, jobs: engine.jobs }, await on.newInstance(), execution)
  await on.complete(ending(taken))
  return taken.claim.node['template']
})

describe('the package of an execution', () => {
  // spec: 2.3/s17
  test('stays the one it started with, on every replica, even if its revision is activated again', async ({
    engine,
    twin,
    fixture,
    tenant,
    template,
  }) => {
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) })
    const start = async () => {
      const asked = question(tenant.key, sandbox)
      expect(codeOf(await engine.start(asked))).toBe('started')
      return asked.id
    }
    const [first, second] = [await start(), await start()]
    expect(await template(first)).toBe('{{ text }}')
    await activatePackage(fixture, { sandbox, revision: 1 }, otherwise('{{ text }}!'), '2')
    const [third, fourth] = [await start(), await start()]
    expect(await template(second, twin)).toBe('{{ text }}')
    expect(await template(third)).toBe('{{ text }}!')
    expect(await template(fourth, twin)).toBe('{{ text }}!')
    const { rows } = await fixture.run('SELECT DISTINCT revision FROM money.executions WHERE sandbox = $1', [sandbox])
    expect(rows).toEqual([{ revision: 1 }])
  })

  test('is the one saved with its revision if the execution names none', async ({
    engine,
    twin,
    fixture,
    begin,
    template,
  }) => {
    const execution = await begin(chain(1), engine)
    const { rows } = await fixture.run(
      'UPDATE money.executions SET digest = NULL WHERE id = $1 RETURNING sandbox, revision',
      [execution],
    )
    await activatePackage(fixture, rows[0] as { sandbox: string; revision: number }, otherwise('{{ text }}!'), '2')
    expect(await template(execution, twin)).toBe('{{ text }}')
  })
})

test('a revision saved with a problem runs once it is activated, without being saved again', async ({
  engine,
  replica,
  fixture,
  tenant,
}) => {
  const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, {
    graph: oneCall(tenant.product),
    problem: 'The product is not assigned.',
  })
  const caller = { keyHash: tenant.key.hash, selector: null }
  const user = { user: tenant.owners.owner, project: tenant.project.id }
  expect(codeOf(await engine.start(question(tenant.key, sandbox)))).toBe('revision_not_active')
  expect(codeOf(await engine.start(question(tenant.key, sandbox, { caller: user, revision: 1 })))).toBe('graph_invalid')
  const digest = await activatePackage(fixture, { sandbox, revision: 1 }, oneCall(tenant.product), '1')
  for (const surface of ['invoke', 'chat'] as const)
    expect(
      codeOf(
        await engine.start(
          question(tenant.key, sandbox, { surface, input: surface === 'chat' ? 'a question' : { text: 'a question' } }),
        ),
      ),
    ).toBe('started')
  expect(codeOf(await engine.start(question(tenant.key, sandbox, { caller: user, revision: 1 })))).toBe('started')
  const models = await readModels({ reads: replica.reads }, caller)
  expect('entries' in models && models.entries.map(({ id }) => id)).toContain(sandbox)
  expect(await readSandbox(engine, { caller, sandbox })).toMatchObject({ sandbox: { revision: 1, digest } })
  const listed = await fixture.key({
    project: tenant.project,
    by: tenant.owners.owner,
    policy: 'listed',
    resources: [sandbox],
  })
  expect(codeOf(await engine.start(question(listed, sandbox)))).toBe('key_scope') // by the manifest of the package
})
