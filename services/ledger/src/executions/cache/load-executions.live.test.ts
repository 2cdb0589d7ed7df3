import { expect, onTestFinished } from 'vitest'
import { type Database, openDatabase } from '@gateway/database/client'
import { claimOf, ending, openEngine, takeNext } from '../../fixtures/engine.ts'
import { test } from '../../fixtures/ledger-test.ts'
import { chain } from '../../fixtures/sandbox-products.ts'
import { readExecutions } from '../store/read-executions.ts'

/** Passes every call through and counts the reads of executions. */
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

test.for([
  ['recorded', {}],
  ['not recorded', { isFirst: true as const }],
] as const)(
  'the only replica that works on an execution reads it once: claims are %s',
  async ([, more], { database, begin }) => {
    const counted = { reads: 0 }
    const engine = await openEngine(database.ledgerUrl, { around: countingReads(counted) })
    onTestFinished(engine.close)
    const [instance, execution] = [await engine.newInstance(), await begin(chain(3), engine)]
    for (let n = 0; n < 4; n++) {
      const taken = await takeNext(engine, instance, execution, more)
      const completion = { ...ending(taken), ...(taken.claim.isUnrecorded && { instance }) }
      expect(await engine.complete(completion)).toMatchObject({ kind: 'completed' })
    }
    expect((await engine.record(execution)).status).toBe('Succeeded')
    expect(counted.reads).toBe(1)
  },
)

test('a replica does not read an execution that it started itself', async ({ database, begin }) => {
  const counted = { reads: 0 }
  const engine = await openEngine(database.ledgerUrl, { around: countingReads(counted) })
  onTestFinished(engine.close)
  const instance = await engine.newInstance()
  await engine.complete(ending(await takeNext(engine, instance, await begin(chain(1), engine))))
  expect(counted.reads).toBe(1) // for the database's clock and for this instance
  const execution = await begin(chain(1), engine)
  const first = await takeNext(engine, instance, execution)
  expect(first.claim).toMatchObject({ node: { id: 't0' }, attempt: 1, outputs: { in: '{"text":"a question"}' } })
  expect(first.claim.remainingMs).toBeGreaterThan(290_000) // five minutes from the first claim
  for (const taken of [first, null])
    await engine.complete(ending(taken ?? (await takeNext(engine, instance, execution))))
  expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded' })
  expect(counted.reads).toBe(1)
})

test('what a claim needs is read even if its node ends between the two statements of the read', async ({
  database,
  engine,
  begin,
}) => {
  const { sql, close } = await openDatabase({ url: database.ledgerUrl, poolSize: 1 })
  onTestFinished(close)
  const [instance, execution] = [await engine.newInstance(), await begin(chain(1))]
  const first = await takeNext(engine, instance, execution)
  await engine.complete(ending(first)) // the second statement finds it ended
  const claim = { op: 'claim' as const, ...claimOf(first.job), lease: first.lease, instance }
  const { sourcesOf } = await readExecutions(sql, [claim])
  expect([...sourcesOf.get(claim)!.values()]).toEqual(['{"text":"a question"}'])
})

test('changes written by another replica win over the cached snapshot', async ({ engine, twin, begin }) => {
  const [instance, execution] = [await engine.newInstance(), await begin(chain(1))]
  const first = await takeNext(engine, instance, execution)
  expect(await twin.complete(ending(first))).toMatchObject({ kind: 'completed' })
  const claimedAgain = { ...claimOf(first.job), lease: first.lease, instance }
  expect(await engine.claim(claimedAgain)).toEqual({ kind: 'nothing-to-do' })
  expect(await engine.complete(ending(first))).toEqual({ kind: 'completed' })
  const last = await takeNext(twin, instance, execution)
  expect(await engine.complete(ending(last))).toEqual({ kind: 'completed' })
  expect(await engine.record(execution)).toMatchObject({ status: 'Succeeded', output: { text: 'by out' } })
})

test('a node is not leased to an instance that has just ended', async ({ engine, begin }) => {
  const [instance, execution] = [await engine.newInstance(), await begin(chain(1))]
  await engine.complete(ending(await takeNext(engine, instance, execution)))
  await engine.endInstance(instance)
  await expect(takeNext(engine, instance, execution)).rejects.toThrow('instance-unknown')
})
