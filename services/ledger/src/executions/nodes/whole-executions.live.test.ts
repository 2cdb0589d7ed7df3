import { describe, expect } from 'vitest'
import { claimOf, ending, failing, newLease, takeNext } from '../../fixtures/engine.ts'
import { test as ledgerTest, walletOf } from '../../fixtures/ledger-test.ts'
import { chain, fan } from '../../fixtures/sandbox-products.ts'

const test = ledgerTest.extend('instance', ({ engine }) => engine.newInstance())

const usage = (completionTokens: number) => ({ promptTokens: 1, completionTokens, estimated: false })

describe('an execution', () => {
  test('runs its nodes in sequence and notifies followers of each step', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(1))
    const first = await takeNext(engine, instance, execution)
    expect(first.claim).toEqual({
      kind: 'claimed',
      project: expect.any(String) as string,
      node: { id: 't0', kind: 'template', template: '{{ text }}' },
      sources: { text: [['in', 'text']] },
      outputs: { in: '{"text":"a question"}' },
      contract: null,
      remainingMs: 300_000,
      attempt: 1,
      callId: '',
      callReservation: '',
    })
    expect(await engine.record(execution)).toMatchObject({ status: 'Running', completedAt: null })
    expect(await engine.complete(ending(first))).toMatchObject({ kind: 'completed' })
    const last = await takeNext(engine, instance, execution)
    expect(last.claim.contract).toContain('"required":["text"]')
    await engine.complete(ending(last))

    expect(await engine.record(execution)).toMatchObject({
      status: 'Succeeded',
      output: { text: 'by out' },
      error: null,
      childCalls: [],
      chargedMicro: 0,
      nodes: [
        { id: 'in', status: 'Succeeded', durationMs: 0 },
        { id: 't0', status: 'Succeeded', durationMs: 3, remoteMs: null, callId: null },
        { id: 'out', status: 'Succeeded' },
      ],
    })
    expect(engine.notified.filter((topic) => topic.endsWith(execution))).toEqual([`done:${execution}`])
  })

  test('fails if its output node lacks a required value [output_missing]', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(0))
    const only = await takeNext(engine, instance, execution)
    await engine.complete(ending(only, { result: failing('output_missing') }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Failed',
      error: { code: 'output_missing' },
      output: null,
    })
  })

  test('keeps the output of a node byte for byte', async ({ engine, instance, begin }) => {
    const execution = await begin(chain(0))
    const output = '{ "text" : "ü\\u0000 \\ud800 spaces stay" }'
    await engine.complete(
      ending(await takeNext(engine, instance, execution), { result: { kind: 'succeeded', output, ports: ['text'] } }),
    )
    const read = await engine.read({ caller: null, project: null, execution: execution })
    expect('record' in read && read.record).toContain(`"output":${output},"error":null,"nodes"`)
  })
})

describe('a failing execution', () => {
  test('hands out no more nodes, waits for the running ones, and ends as Failed with their charges', async ({
    engine,
    replica,
    instance,
    begin,
    admit,
    tenant,
  }) => {
    const execution = await begin(fan([tenant.product, tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
    await admit(instance, other)
    await engine.complete(ending(one, { result: failing() }))
    expect(await engine.record(execution)).toMatchObject({
      status: 'Running',
      error: { code: 'provider_failed' },
      completedAt: null,
    })
    expect(engine.notified).toContain(`end:${execution}`)
    const third = engine.jobs.find((job) => job.execution === execution)!
    expect(await engine.claim({ ...claimOf(third), lease: newLease(), instance })).toEqual({ kind: 'nothing-to-do' })
    await engine.complete(ending(other, { usage: usage(9) }))
    const record = await engine.record(execution)
    expect(record).toMatchObject({ status: 'Failed', chargedMicro: 9, output: null })
    expect(record.nodes.map(({ status }) => status)).toEqual([
      'Succeeded',
      'Failed',
      'Succeeded',
      'Pending',
      'Pending',
      'Pending',
    ])
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 9n })
    const { lines, done } = await engine.follow({ execution: execution, after: 2 })
    expect(done).toBe(true)
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { seq: number }).seq),
    ).toEqual([3, 4])
  })

  test('treats a node that is given back as one that never ran', async ({ engine, instance, begin, tenant }) => {
    const execution = await begin(fan([tenant.product, tenant.product]))
    const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
    await engine.complete(ending(one, { result: failing() }))
    await engine.complete(ending(other, { result: { kind: 'given-back' } }))
    expect((await engine.record(execution)).nodes.map(({ status }) => status)).toEqual([
      'Succeeded',
      'Failed',
      'Pending',
      'Pending',
      'Pending',
    ])
    expect(await engine.record(execution)).toMatchObject({ status: 'Failed' })
  })
})
