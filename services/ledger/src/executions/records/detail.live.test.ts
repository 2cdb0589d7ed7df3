import { describe, expect } from 'vitest'
import { executionDetailShape } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import { ending, question, takeNext } from '../../fixtures/engine.ts'
import { test } from '../../fixtures/ledger-test.ts'
import { chain, fan, publishProduct } from '../../fixtures/sandbox-products.ts'

describe('the detailed record of an execution', () => {
  test('adds the inputs, start times and attempts of the execution and its nodes to the record', async ({
    engine,
    begin,
  }) => {
    const execution = await begin(chain(1))
    expect(await engine.detail(execution)).toMatchObject({
      input: { text: 'a question' },
      nodes: [
        { id: 'in', input: null, attempts: 0, startedAt: null, waitedMs: null },
        { id: 't0', input: null, attempts: 0, startedAt: null, waitedMs: null },
        { id: 'out', input: null, attempts: 0, startedAt: null, waitedMs: null },
      ],
    })
    const instance = await engine.newInstance()
    const given = ending(await takeNext(engine, instance, execution), { result: { kind: 'given-back' } })
    await engine.complete(given)
    expect((await engine.detail(execution)).nodes[1]).toMatchObject({ input: null, attempts: 1, startedAt: null })
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    await takeNext(engine, instance, execution)
    const { nodes, ...detail } = await engine.detail(execution)
    executionDetailShape.parse({ ...detail, nodes })
    const [, done, running] = nodes
    expect(done).toMatchObject({ input: { text: 'a question' }, output: { text: 'by t0' }, attempts: 2 })
    expect(running).toMatchObject({ status: 'Running', input: { text: 'by t0' }, attempts: 1 })
    expect(Date.parse(done!.startedAt!) - Date.parse(detail.createdAt)).toBe(done!.waitedMs)
    expect(Date.parse(running!.startedAt!) - Date.parse(done!.startedAt!)).toBeGreaterThanOrEqual(running!.waitedMs!)
    const { nodes: plain, ...record } = await engine.record(execution)
    expect({ ...detail, nodes }).toMatchObject({ ...record, nodes: plain })
  })

  test('contains node inputs up to the size limit, and every node', async ({ engine, fixture, tenant }) => {
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, {
      graph: fan(Array.from({ length: 6 }, () => tenant.product)),
    })
    const text = 'x'.repeat(60_000)
    const asked = question(tenant.key, sandbox, { input: { text } })
    await engine.start(asked)
    const instance = await engine.newInstance()
    for (let n = 0; n < 6; n++) await takeNext(engine, instance, asked.id)
    const { input, nodes } = await engine.detail(asked.id)
    expect(input).toEqual({ text })
    const shown = nodes.filter((node) => node.input !== null)
    expect(shown.length).toBe(Math.floor(flowLimits.recordInputBytes / (text.length + '{"prompt":""}'.length)))
    expect(nodes.filter(({ startedAt }) => startedAt !== null)).toHaveLength(6)
  })
})
