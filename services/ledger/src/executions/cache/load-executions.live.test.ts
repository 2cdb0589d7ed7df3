import { expect, onTestFinished } from 'vitest'
import type { Database } from '@gateway/database/client'
import { claimOf, ending, openEngine, takeNext } from '../../fixtures/engine.ts'
import { test } from '../../fixtures/ledger-test.ts'
import { chain } from '../../fixtures/sandbox-products.ts'

/** Passes everything on, and counts what is read of executions. */
function countingReads(counted: { reads: number }) {
  return ({ prisma, sql }: Database): Pick<Database, 'prisma' | 'sql'> => ({
    prisma,
    sql: {
      ...sql,
      query(text, values) {
        if (text.includes('read_executions')) counted.reads++
        return sql.query(text, values)
      },
    },
  })
}

test('an execution is read once by the only replica that works on it', async ({ database, begin }) => {
  const counted = { reads: 0 }
  const engine = await openEngine(database.ledgerUrl, { around: countingReads(counted) })
  onTestFinished(engine.close)
  const [instance, execution] = [await engine.newInstance(), await begin(chain(3), engine)]
  for (let n = 0; n < 4; n++)
    expect(await engine.complete(ending(await takeNext(engine, instance, execution)))).toEqual({ kind: 'completed' })
  expect((await engine.record(execution)).status).toBe('Succeeded')
  expect(counted.reads).toBe(1)
})

test('an execution that this replica has begun is not read by it', async ({ database, begin }) => {
  const counted = { reads: 0 }
  const engine = await openEngine(database.ledgerUrl, { around: countingReads(counted) })
  onTestFinished(engine.close)
  const instance = await engine.newInstance()
  await engine.complete(ending(await takeNext(engine, instance, await begin(chain(1), engine))))
  expect(counted.reads).toBe(1) // the clock of the database, and that this instance is alive
  const execution = await begin(chain(1), engine)
  const first = await takeNext(engine, instance, execution)
  expect(first.claim).toMatchObject({ node: { id: 't0' }, attempt: 1, outputs: { in: '{"text":"a question"}' } })
  expect(first.claim.remainingMs).toBeGreaterThan(290_000) // five minutes from the first claim
  for (const taken of [first, null])
    await engine.complete(ending(taken ?? (await takeNext(engine, instance, execution))))
  expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded' })
  expect(counted.reads).toBe(1)
})

test('what another replica made of an execution counts, no matter what this one remembers', async ({
  engine,
  twin,
  begin,
}) => {
  const [instance, execution] = [await engine.newInstance(), await begin(chain(1))]
  const first = await takeNext(engine, instance, execution)
  expect(await twin.complete(ending(first))).toEqual({ kind: 'completed' })
  const claimedAgain = { ...claimOf(first.job), lease: first.lease, instance }
  expect(await engine.claim(claimedAgain)).toEqual({ kind: 'nothing-to-do' })
  expect(await engine.complete(ending(first))).toEqual({ kind: 'completed' })
  const last = await takeNext(twin, instance, execution)
  expect(await engine.complete(ending(last))).toEqual({ kind: 'completed' })
  expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded', output: { text: 'by out' } })
})

test('a node is not leased to a process that has ended, though it lived a moment ago', async ({ engine, begin }) => {
  const [instance, execution] = [await engine.newInstance(), await begin(chain(1))]
  await engine.complete(ending(await takeNext(engine, instance, execution)))
  await engine.endInstance(instance)
  await expect(takeNext(engine, instance, execution)).rejects.toThrow('instance-unknown')
})
