import { linesTopicOf, readPushed } from '@gateway/ledger-protocol/flow-reads'
import { expect } from 'vitest'
import { ending, type Engine, failing, takeNext } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { chain, fan } from '../../fixtures/sandbox-products.ts'

const test = ledgerTest.extend('instance', ({ engine }) => engine.newInstance())

/** Waits for the last line of an execution and returns what was sent of it. */
async function sentOf(engine: Engine, execution: string) {
  const sent = () =>
    engine.texts.filter(({ topic }) => topic === linesTopicOf(execution)).map(({ text }) => readPushed(text)!)
  await expect.poll(() => sent().at(-1)?.done).toBe(true)
  return sent()
}

test('the lines that are sent of an execution are those that a reader gets', async ({ engine, instance, begin }) => {
  const execution = await begin(chain(2))
  for (let left = 3; left > 0; left--) {
    const taken = await takeNext(engine, instance, execution)
    await engine.complete(ending(taken, { measured: { durationMs: 7, remoteMs: left === 3 ? null : 5 } }))
  }
  const sent = await sentOf(engine, execution)
  expect(sent.map(({ after, seq, done }) => [after, seq, done])).toEqual([
    [1, 2, false],
    [2, 3, false],
    [3, 5, true],
  ])
  const read = await engine.follow({ execution, after: 1 })
  expect(sent.map(({ lines }) => lines).join('')).toBe(read.lines)
})

test('paid and failed nodes are sent as they are read', async ({ engine, instance, begin, admit, tenant }) => {
  const execution = await begin(fan([tenant.product, tenant.product]))
  const [paid, failed] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
  await admit(instance, paid)
  const usage = { promptTokens: 1, completionTokens: 30, estimated: false }
  await engine.complete(ending(paid, { usage, reservation: paid.claim.callReservation }))
  await engine.complete(ending(failed, { result: failing(), reservation: failed.claim.callReservation }))
  const sent = await sentOf(engine, execution)
  const read = await engine.follow({ execution, after: 1 })
  expect(sent.map(({ lines }) => lines).join('')).toBe(read.lines)
  expect(sent[0]!.lines).toContain(`"callId":"${paid.claim.callId}","chargedMicro":30`)
  expect(read.lines).toContain('provider_failed')
})
