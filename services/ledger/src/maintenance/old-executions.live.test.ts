import { describe, expect } from 'vitest'
import type { Fixture } from '@gateway/testbed/fixture'
import { ending, takeNext } from '../fixtures/engine.ts'
import { findingsOf, test } from '../fixtures/ledger-test.ts'
import { chain, oneCall } from '../fixtures/sandbox-products.ts'
import { planPartitions } from './partition-planner.ts'

const usage = { promptTokens: 1, completionTokens: 20, estimated: false }

/** Creates the partition of the week `days` ago and moves the execution into it. Returns its new id. */
async function moveBack(fixture: Fixture, execution: string, days: number): Promise<string> {
  const { rows } = await fixture.run(
    `SELECT to_char(w, 'YYYYMMDD') AS name, money.id_bound('exe', w AT TIME ZONE 'UTC') AS lower,
            money.id_bound('exe', (w + interval '7 days') AT TIME ZONE 'UTC') AS upper
       FROM date_trunc('week', (now() AT TIME ZONE 'UTC') - $1 * interval '1 day') w`,
    [days],
  )
  const [{ name, lower, upper }] = rows as [{ name: string; lower: string; upper: string }]
  for (const table of ['executions', 'execution_nodes'])
    await fixture.run(
      `CREATE TABLE IF NOT EXISTS money.${table}_${name} PARTITION OF money.${table} FOR VALUES FROM ('${lower}') TO ('${upper}')`,
    )
  const id = `${lower}${execution.slice(-16)}`
  await fixture.run(
    `UPDATE money.executions SET id = $2, completed_at = completed_at - $3 * interval '1 day' WHERE id = $1`,
    [execution, id, days],
  )
  await fixture.run('UPDATE money.execution_nodes SET execution = $2 WHERE execution = $1', [execution, id])
  return id
}

describe('executions whose retention is over', () => {
  test('are dropped with their nodes, one week at a time; their charges stay', async ({
    engine,
    replica,
    tenant,
    begin,
    admit,
    fixture,
  }) => {
    const instance = await engine.newInstance()
    const begun = await begin(oneCall(tenant.product))
    const taken = await takeNext(engine, instance, begun)
    await admit(instance, taken)
    await engine.complete(ending(taken, { usage }))
    await engine.complete(ending(await takeNext(engine, instance, begun)))
    const execution = await moveBack(fixture, begun, 50)
    expect((await engine.record(execution)).chargedMicro).toBe(20)

    const open = await moveBack(fixture, await begin(chain(0)), 50)
    await planPartitions(replica)
    expect((await engine.record(execution)).chargedMicro).toBe(20)
    await fixture.run(
      `UPDATE money.executions SET status = 'Succeeded', output = '{}', completed_at = now() - interval '29 days' WHERE id = $1`,
      [open],
    )
    await planPartitions(replica)
    expect((await engine.record(execution)).chargedMicro).toBe(20)

    await fixture.run(`UPDATE money.executions SET completed_at = now() - interval '31 days' WHERE id = $1`, [open])
    expect(await planPartitions(replica)).toMatchObject({ dropped: 1 })
    await expect(engine.record(execution)).rejects.toThrow('execution_not_found')
    const left = await fixture.run(
      `SELECT (SELECT count(*)::int FROM money.execution_nodes WHERE execution = $1) AS nodes,
              (SELECT sum(charged_micro)::int FROM money.attempts WHERE execution = $2) AS charged`,
      [execution, begun],
    )
    expect(left.rows).toEqual([{ nodes: 0, charged: 20 }])
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('are deleted row by row if their week has no partition', async ({ engine, replica, begin, fixture }) => {
    const execution = await begin(chain(0))
    await fixture.run(
      `UPDATE money.executions SET id = 'exe_0', status = 'Succeeded', output = '{}', completed_at = now() - interval '31 days' WHERE id = $1`,
      [execution],
    )
    await fixture.run(`UPDATE money.execution_nodes SET execution = 'exe_0' WHERE execution = $1`, [execution])
    await planPartitions(replica)
    await expect(engine.record('exe_0')).rejects.toThrow('execution_not_found')
    const nodes = await fixture.run(`SELECT FROM money.execution_nodes WHERE execution = 'exe_0'`)
    expect(nodes.rowCount).toBe(0)
  })
})
