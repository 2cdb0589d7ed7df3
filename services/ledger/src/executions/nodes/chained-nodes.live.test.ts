import { expect } from 'vitest'
import type { Claimed, CompleteOutcome } from '@gateway/ledger-protocol/flow-items'
import { ending, newLease, openEngine, takeNext } from '../../fixtures/engine.ts'
import { test as ledgerTest } from '../../fixtures/ledger-test.ts'
import { chain, fan } from '../../fixtures/sandbox-products.ts'

// A worker that ends a node may continue with a free node that became ready because of it (R10 of
// decide-execution.ts).

const test = ledgerTest.extend('instance', ({ engine }) => engine.newInstance())

const untimed = (claim: Claimed): Claimed => ({ ...claim, remainingMs: 0 })

function handedIn(outcome: CompleteOutcome | { kind: 'undecided' }): Claimed {
  if (outcome.kind !== 'completed' || !outcome.next) throw new Error(`no node was chained: ${outcome.kind}`)
  return outcome.next
}

test('one job runs a whole execution through chained nodes', async ({ engine, instance, begin, fixture }) => {
  const execution = await begin(chain(3))
  const first = await takeNext(engine, instance, execution)
  let held = { node: 't0', lease: first.lease }
  const ran = [held.node]
  while (held.node !== 'out') {
    const next = { lease: newLease(), instance }
    const claim = handedIn(
      await engine.complete(ending({ job: { ...first.job, node: held.node }, lease: held.lease }, { next })),
    )
    expect(claim).toMatchObject({ kind: 'claimed', attempt: 1, outputs: { [held.node]: `{"text":"by ${held.node}"}` } })
    held = { node: claim.node.id, lease: next.lease }
    ran.push(held.node)
  }
  const last = { lease: newLease(), instance }
  const over = ending({ job: { ...first.job, node: 'out' }, lease: held.lease }, { next: last })
  expect(await engine.complete(over)).toEqual({ kind: 'completed' })
  expect(ran).toEqual(['t0', 't1', 't2', 'out'])
  expect(engine.jobs.filter((job) => job.execution === execution)).toEqual([])
  expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded' })
  const { rows } = await fixture.run(
    'SELECT count(*)::int AS placed FROM money.execution_nodes WHERE execution = $1 AND enqueued_at IS NOT NULL',
    [execution],
  )
  expect(rows).toEqual([{ placed: 4 }]) // each counts towards its project's share of the queue
})

test('a repeated completion returns the same chained node, even from a replica that has not seen the execution', async ({
  engine,
  twin,
  database,
  instance,
  begin,
  tenant,
}) => {
  const execution = await begin(fan([tenant.product, tenant.product]))
  const [one, other] = [await takeNext(engine, instance, execution), await takeNext(engine, instance, execution)]
  expect(await engine.complete(ending(one))).toEqual({ kind: 'completed' })
  const item = ending(other, { next: { lease: newLease(), instance } })
  const claim = handedIn(await engine.complete(item))
  expect(claim.outputs).toEqual({ c0: '{"text":"by c0"}', c1: '{"text":"by c1"}' })
  const third = await openEngine(database.ledgerUrl)
  for (const replica of [engine, twin, third])
    expect(untimed(handedIn(await replica.complete(item)))).toEqual(untimed(claim))
  await third.close()
})

test('a chained node is enqueued if its worker dies', async ({ engine, begin, fixture }) => {
  const mortal = await engine.newInstance()
  const execution = await begin(chain(1))
  const first = await takeNext(engine, mortal, execution)
  const next = { lease: newLease(), instance: mortal }
  handedIn(await engine.complete(ending(first, { next })))
  expect(engine.jobs.filter((job) => job.execution === execution)).toEqual([])
  await engine.endInstance(mortal)
  await engine.reclaim()
  const { claim, job, lease } = await takeNext(engine, await engine.newInstance(), execution)
  expect(claim).toMatchObject({ attempt: 2, node: { id: 'out' } })
  const late = ending({ job: { ...first.job, node: 'out' }, lease: next.lease })
  expect(await engine.complete(late)).toEqual({ kind: 'fenced' })
  expect(await engine.complete(ending({ job, lease }))).toEqual({ kind: 'completed' })
  const { rows } = await fixture.run('SELECT status FROM money.executions WHERE id = $1', [execution])
  expect(rows).toEqual([{ status: 'Succeeded' }])
})

test('an ended instance gets no chained node, and the ready node is enqueued', async ({ engine, begin }) => {
  const gone = await engine.newInstance()
  const execution = await begin(chain(1))
  const first = await takeNext(engine, gone, execution)
  const dead = await engine.newInstance()
  await engine.endInstance(dead)
  const answer = await engine.complete(ending(first, { next: { lease: newLease(), instance: dead } }))
  expect(answer).toEqual({ kind: 'completed', ready: [expect.anything()] })
  expect((await takeNext(engine, gone, execution)).claim).toMatchObject({ node: { id: 'out' }, attempt: 1 })
})
