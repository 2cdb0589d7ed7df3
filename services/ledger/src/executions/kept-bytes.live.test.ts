import { expect } from 'vitest'
import { codeOf, ending, type Engine, mint, openEngine, question, takeNext } from '../fixtures/engine.ts'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { chain, publishProduct } from '../fixtures/sandbox-products.ts'

const test = ledgerTest.extend('readKept', ({ fixture, tenant }) => async (engine: Engine) => {
  await engine.keptBytes.write()
  const { rows } = await fixture.run('SELECT bytes::int FROM money.execution_usage WHERE project = $1', [
    tenant.project.id,
  ])
  return rows[0]?.bytes as number
})

test('counts the input and the results of an execution, and starts none beyond the quota [quota_reached]', async ({
  fixture,
  tenant,
  database,
  readKept,
  onTestFinished,
}) => {
  const engine = await openEngine(database.ledgerUrl, { quotas: { executionBytes: 1_000 } })
  onTestFinished(engine.close)
  const project = tenant.project.id
  const sandbox = await publishProduct(fixture, project, tenant.owners.owner, { graph: chain(1) })
  const instance = await engine.newInstance()
  const start = () => engine.start(question(tenant.key, sandbox))

  const started = await start()
  if ('refused' in started) throw new Error(started.refused.code)
  const atStart = await readKept(engine)
  expect(atStart).toBeGreaterThan(0)
  const taken = await takeNext(engine, instance, started.execution)
  const output = JSON.stringify({ text: 'x'.repeat(2_000) })
  const completed = ending(taken, { result: { kind: 'succeeded', output, ports: ['text'] } })
  expect(await engine.complete(completed)).toMatchObject({ kind: 'completed' })
  await engine.complete(completed) // a repeat is counted once
  expect(await readKept(engine)).toBe(atStart + output.length)

  expect(codeOf(await start())).toBe('quota_reached')
  await fixture.run(`UPDATE control.projects SET quotas = '{"executionBytes": 100000}' WHERE id = $1`, [project])
  expect(codeOf(await start())).toBe('started')
})

test('counts what a rerun copies: its input and the results it reuses [quota_reached]', async ({
  fixture,
  tenant,
  database,
  readKept,
  onTestFinished,
}) => {
  const engine = await openEngine(database.ledgerUrl)
  onTestFinished(engine.close)
  const project = tenant.project.id
  const sandbox = await publishProduct(fixture, project, tenant.owners.owner, { graph: chain(1) })
  const instance = await engine.newInstance()
  const rerun = (execution: string) =>
    engine.rerun({
      id: mint('exe'),
      user: tenant.owners.owner,
      project,
      execution,
      from: 'out',
      revision: null,
      maxMicro: null,
      idempotency: null,
      trace: null,
    })

  const started = await engine.start(question(tenant.key, sandbox))
  if ('refused' in started) throw new Error(started.refused.code)
  const output = JSON.stringify({ text: 'x'.repeat(2_000) })
  const taken = await takeNext(engine, instance, started.execution)
  await engine.complete(ending(taken, { result: { kind: 'succeeded', output, ports: ['text'] } }))
  await engine.complete(ending(await takeNext(engine, instance, started.execution)))
  const before = await readKept(engine)
  const copied = JSON.stringify({ text: 'a question' }).length + output.length
  for (const times of [1, 2]) {
    expect(codeOf(await rerun(started.execution))).toBe('started')
    expect(await readKept(engine)).toBe(before + times * copied)
  }

  const quotas = JSON.stringify({ executionBytes: before + 2 * copied })
  await fixture.run(`UPDATE control.projects SET quotas = $2 WHERE id = $1`, [project, quotas])
  expect(codeOf(await rerun(started.execution))).toBe('quota_reached')
})
