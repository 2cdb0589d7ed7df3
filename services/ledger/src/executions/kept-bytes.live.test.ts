import { expect } from 'vitest'
import { codeOf, ending, openEngine, question, takeNext } from '../fixtures/engine.ts'
import { test } from '../fixtures/ledger-test.ts'
import { chain, publishProduct } from '../fixtures/sandbox-products.ts'

test('counts the input and the results of an execution, and starts none beyond the quota [quota_reached]', async ({
  fixture,
  tenant,
  database,
  onTestFinished,
}) => {
  const engine = await openEngine(database.ledgerUrl, { quotas: { executionBytes: 1_000 } })
  onTestFinished(engine.close)
  const project = tenant.project.id
  const sandbox = await publishProduct(fixture, project, tenant.owners.owner, { graph: chain(1) })
  const instance = await engine.newInstance()
  const start = () => engine.start(question(tenant.key, sandbox))
  const keptBytes = async () => {
    await engine.keptBytes.write()
    const { rows } = await fixture.run('SELECT bytes::int FROM money.execution_usage WHERE project = $1', [project])
    return rows[0]?.bytes as number | undefined
  }

  const started = await start()
  if ('refused' in started) throw new Error(started.refused.code)
  const atStart = await keptBytes()
  expect(atStart).toBeGreaterThan(0)
  const taken = await takeNext(engine, instance, started.execution)
  const output = JSON.stringify({ text: 'x'.repeat(2_000) })
  const completed = ending(taken, { result: { kind: 'succeeded', output, ports: ['text'] } })
  expect(await engine.complete(completed)).toMatchObject({ kind: 'completed' })
  await engine.complete(completed) // a repeat is counted once
  expect(await keptBytes()).toBe(atStart! + output.length)

  expect(codeOf(await start())).toBe('quota_reached')
  await fixture.run(`UPDATE control.projects SET quotas = '{"executionBytes": 100000}' WHERE id = $1`, [project])
  expect(codeOf(await start())).toBe('started')
})
