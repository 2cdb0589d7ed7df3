import { describe, expect } from 'vitest'
import type { ProgressLine } from '@gateway/api/execution'
import { ending, failing, question, takeNext } from '../../fixtures/engine.ts'
import { openTenant, test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { chain, fan, publishProduct } from '../../fixtures/sandbox-products.ts'
import { endedExecutions, readUsage } from './read-execution.ts'

const test = ledgerTest
  .extend('sandbox', ({ tenant, fixture }) =>
    publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) }),
  )
  .extend('execution', async ({ engine, tenant, sandbox }) => {
    const asked = question(tenant.key, sandbox)
    await engine.start(asked)
    return asked.id
  })

describe('the record of an execution', () => {
  test('is readable by its project only [execution_not_found] [project_mismatch]', async ({
    engine,
    fixture,
    tenant,
    execution,
  }) => {
    const caller = { keyHash: tenant.key.hash, selector: null }
    expect(await engine.read({ caller, project: null, execution })).toMatchObject({ done: false })
    const other = await openTenant(fixture)
    const theirs = { keyHash: other.key.hash, selector: null }
    const notFound = (execution: string) => ({ refused: { code: 'execution_not_found', facts: { execution } } })
    expect(await engine.read({ caller: theirs, project: null, execution })).toEqual(notFound(execution))
    expect(await engine.read({ caller: theirs, project: null, execution: 'exe_none' })).toEqual(notFound('exe_none'))
    expect(await engine.read({ caller: null, project: other.project.id, execution })).toEqual(notFound(execution))
    expect(await engine.read({ caller: null, project: tenant.project.id, execution })).toMatchObject({ done: false })
    expect(
      await engine.read({ caller: { ...caller, selector: other.project.id }, project: null, execution }),
    ).toMatchObject({ refused: { code: 'project_mismatch' } })
  })

  test('is readable by a listed key only if the key lists the flow [key_scope]', async ({
    engine,
    fixture,
    tenant,
    sandbox,
    execution,
  }) => {
    const key = (...resources: string[]) =>
      fixture.key({ project: tenant.project, by: tenant.owners.owner, policy: 'listed', resources })
    const read = async (by: Awaited<ReturnType<typeof key>>) =>
      engine.read({ caller: { keyHash: by.hash, selector: null }, project: null, execution })
    expect(await read(await key(tenant.product))).toEqual({
      refused: { code: 'key_scope', facts: { resource: sandbox } },
    })
    expect(await read(await key(sandbox))).toMatchObject({ done: false })
  })
})

describe('the progress of an execution', () => {
  // spec: 6/r2
  test('delivers every line once, in order, from any position of the reader', async ({ engine, execution }) => {
    const instance = await engine.newInstance()
    const all: ProgressLine[] = []
    const follow = async () => {
      const { lines, seq, done } = await engine.follow({ execution, after: all.at(-1)?.seq ?? -1 })
      all.push(
        ...lines
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as ProgressLine),
      )
      expect(all.at(-1)!.seq).toBe(seq)
      return done
    }
    expect(await follow()).toBe(false)
    expect(all.map(({ kind }) => kind)).toEqual(['admitted', 'node'])
    expect(await follow()).toBe(false)
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    await follow()
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    expect(await follow()).toBe(true)
    expect(await follow()).toBe(true)
    expect(all.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['admitted', 0],
      ['node', 1],
      ['node', 2],
      ['node', 3],
      ['complete', 4],
    ])
    const last = all.at(-1)!
    expect(last.kind === 'complete' && last.execution).toEqual(await engine.record(execution))
    expect(all[0]).toMatchObject({ executionId: execution, revision: 1, at: expect.stringMatching(/Z$/) as string })
    const replay = await engine.follow({ execution, after: -1 })
    expect(
      replay.lines
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as ProgressLine),
    ).toEqual(all)
    await expect(engine.follow({ execution: 'exe_none', after: -1 })).rejects.toThrow('execution_not_found')
  })

  test('includes failed nodes, but not skipped ones or ones that never started', async ({
    engine,
    fixture,
    tenant,
  }) => {
    const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, {
      graph: fan([tenant.product, tenant.product]),
    })
    const asked = question(tenant.key, sandbox)
    await engine.start(asked)
    const taken = await takeNext(engine, await engine.newInstance(), asked.id)
    await engine.complete(ending(taken, { result: failing() }))
    const { lines } = await engine.follow({ execution: asked.id, after: 0 })
    const progress = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ProgressLine)
    expect(progress.map((line) => (line.kind === 'node' ? `${line.node.id} ${line.node.status}` : line.kind))).toEqual([
      'in Succeeded',
      'c0 Failed',
      'complete',
    ])
  })
})

test('endedExecutions returns those of the given executions that have ended', async ({ engine, replica, begin }) => {
  const executions = [await begin(chain(0)), await begin(chain(0)), await begin(chain(0))]
  const of = (...asked: string[]) => endedExecutions(replica, { executions: asked })
  expect(await of(...executions)).toEqual({ ended: [] })
  await engine.complete(ending(await takeNext(engine, await engine.newInstance(), executions[1]!)))
  expect(await of(...executions.toReversed(), 'exe_none')).toEqual({ ended: [executions[1]] })
  expect(await of('exe_none')).toEqual({ ended: [] })
})

test('the usage of an execution is the sum of its settled calls', async ({ engine, replica, begin, admit, tenant }) => {
  const execution = await begin(fan([tenant.product, tenant.product, tenant.product]))
  expect(await readUsage(replica, { execution })).toEqual({ promptTokens: 0, completionTokens: 0 })
  const instance = await engine.newInstance()
  for (const tokens of [5, 7, null]) {
    const taken = await takeNext(engine, instance, execution)
    await admit(instance, taken)
    const usage = tokens && { promptTokens: tokens, completionTokens: tokens, estimated: false }
    await engine.complete(ending(taken, usage ? { usage } : { result: failing() }))
  }
  expect(await readUsage(replica, { execution })).toEqual({ promptTokens: 12, completionTokens: 12 })
})
