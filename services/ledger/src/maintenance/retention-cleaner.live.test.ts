import { describe, expect } from 'vitest'
import { ending, takeNext } from '../fixtures/engine.ts'
import { findingsOf, test } from '../fixtures/ledger-test.ts'
import { chain, oneCall } from '../fixtures/sandbox-products.ts'
import { cleanRetention } from './retention-cleaner.ts'

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

describe('an execution whose retention is over', () => {
  test('is forgotten with its nodes; what it was charged stays', async ({
    engine,
    replica,
    tenant,
    begin,
    admit,
    fixture,
  }) => {
    const instance = await engine.newInstance()
    const execution = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, execution)
    await admit(instance, taken)
    await engine.complete(ending(taken, { usage }))
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    const open = await begin(chain(0))
    await fixture.run(`UPDATE money.executions SET completed_at = completed_at - interval '29 days' WHERE id = $1`, [
      execution,
    ])
    await cleanRetention(replica)
    expect((await engine.record(execution)).chargedMicro).toBe(20)
    await fixture.run(`UPDATE money.executions SET completed_at = completed_at - interval '2 days' WHERE id = $1`, [
      execution,
    ])
    await cleanRetention(replica)
    await expect(engine.record(execution)).rejects.toThrow('execution_not_found')
    const left = await fixture.run(
      `SELECT (SELECT count(*)::int FROM money.execution_nodes WHERE execution = $1) AS nodes,
              (SELECT sum(charged_micro)::int FROM money.attempts WHERE execution = $1) AS charged`,
      [execution],
    )
    expect(left.rows).toEqual([{ nodes: 0, charged: 20 }])
    expect(await engine.record(open)).toMatchObject({ status: 'Admitted' })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })
})
