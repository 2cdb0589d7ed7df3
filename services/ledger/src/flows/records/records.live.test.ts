import { describe, expect } from 'vitest'
import type { ProgressLine } from '@gateway/contracts/execution'
import { openShop } from '../../shop.fixture.ts'
import { ending, failing, question, saveSandbox, takeNext } from '../engine.fixture.ts'
import { test as flowTest } from '../flow-shop.fixture.ts'
import { chain, fan } from '../graphs.fixture.ts'

const test = flowTest
  .extend('sandbox', ({ shop, world }) => saveSandbox(world, shop.project.id, shop.owners.owner, { graph: chain(1) }))
  .extend('run', async ({ engine, shop, sandbox }) => {
    const asked = question(shop.key, sandbox)
    await engine.start(asked)
    return asked.id
  })

describe('the record of a run', () => {
  test('answers its project alone [execution_not_found] [project_mismatch]', async ({ engine, world, shop, run }) => {
    const caller = { keyHash: shop.key.hash, selector: null }
    expect(await engine.read({ caller, project: null, execution: run })).toMatchObject({ done: false })
    const other = await openShop(world)
    const theirs = { keyHash: other.key.hash, selector: null }
    const notFound = (execution: string) => ({ refused: { code: 'execution_not_found', facts: { execution } } })
    expect(await engine.read({ caller: theirs, project: null, execution: run })).toEqual(notFound(run))
    expect(await engine.read({ caller: theirs, project: null, execution: 'exe_none' })).toEqual(notFound('exe_none'))
    expect(await engine.read({ caller: null, project: other.project.id, execution: run })).toEqual(notFound(run))
    expect(await engine.read({ caller: null, project: shop.project.id, execution: run })).toMatchObject({ done: false })
    expect(
      await engine.read({ caller: { ...caller, selector: other.project.id }, project: null, execution: run }),
    ).toMatchObject({ refused: { code: 'project_mismatch' } })
  })

  test('needs a listed key to list the flow [key_scope]', async ({ engine, world, shop, sandbox, run }) => {
    const key = (...resources: string[]) =>
      world.key({ project: shop.project, by: shop.owners.owner, policy: 'listed', resources })
    const read = async (by: Awaited<ReturnType<typeof key>>) =>
      engine.read({ caller: { keyHash: by.hash, selector: null }, project: null, execution: run })
    expect(await read(await key(shop.product))).toEqual({
      refused: { code: 'key_scope', facts: { resource: sandbox } },
    })
    expect(await read(await key(sandbox))).toMatchObject({ done: false })
  })
})

describe('the progress of a run', () => {
  test('is every line once, in order, whatever the reader had before', async ({ engine, run }) => {
    const holder = await engine.newHolder()
    const all: ProgressLine[] = []
    const follow = async () => {
      const { lines, seq, done } = await engine.follow({ execution: run, after: all.at(-1)?.seq ?? -1 })
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
    await engine.complete(ending(await takeNext(engine, holder, run)))
    await follow()
    await engine.complete(ending(await takeNext(engine, holder, run)))
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
    expect(last.kind === 'complete' && last.execution).toEqual(await engine.record(run))
    expect(all[0]).toMatchObject({ executionId: run, revision: 1, at: expect.stringMatching(/Z$/) as string })
    const replay = await engine.follow({ execution: run, after: -1 })
    expect(
      replay.lines
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as ProgressLine),
    ).toEqual(all)
    await expect(engine.follow({ execution: 'exe_none', after: -1 })).rejects.toThrow('exe_none')
  })

  test('holds what failed, and not what was skipped or never began', async ({ engine, world, shop }) => {
    const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, {
      graph: fan([shop.product, shop.product]),
    })
    const asked = question(shop.key, sandbox)
    await engine.start(asked)
    const taken = await takeNext(engine, await engine.newHolder(), asked.id)
    await engine.complete(ending(taken, { result: failing() }))
    const { lines } = await engine.follow({ execution: asked.id, after: 0 })
    const told = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ProgressLine)
    expect(told.map((line) => (line.kind === 'node' ? `${line.node.id} ${line.node.status}` : line.kind))).toEqual([
      'in Succeeded',
      'c0 Failed',
      'complete',
    ])
  })
})
