import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { openDatabase } from '@gateway/database/client'
import { executionTest as test, input } from '../executions/executions.fixture.ts'
import { expectRowsRead } from '../request/rows-read.fixture.ts'
import { asking, echo } from './graphs.fixture.ts'
import { findActivity } from './sandboxes.ts'

const DAYS_AGO = `now() - $1::integer * interval '1 day'`

test('lists the last execution, success rate and exact spend of 30 days of each sandbox product, across pages', async ({
  flow,
  stack,
  fixture,
}) => {
  const paid = await flow.made(asking(flow.product))
  const unused = await flow.made(echo)
  const old = await flow.made(echo)
  const runs: ExecutionRecord[] = []
  for (let n = 0; n < 3; n++) runs.push((await paid.execute(input)).body as ExecutionRecord)
  const [first, second, last] = runs
  const failed = `UPDATE money.executions SET status = 'Failed', error = '{}' WHERE id = $1`
  await fixture.run(failed, [second!.id])
  const { body: earlier } = await old.execute(input)
  await fixture.run(`UPDATE money.executions SET created_at = ${DAYS_AGO} WHERE id = $2`, [31, earlier.id])
  const list = async (query = '') => (await stack.owner.get(`${stack.projectPath}/sandboxes/activity${query}`)).body
  const { body: usage } = await stack.owner.get(`${stack.projectPath}/usage?by=sandbox`)
  const chargedMicro = first!.chargedMicro + second!.chargedMicro + last!.chargedMicro
  expect(chargedMicro).toBeGreaterThan(0)
  expect(usage.data).toMatchObject([{ group: paid.id, chargedMicro }])
  const nothing = { ended: 0, succeeded: 0, chargedMicro: 0 }
  const of = ({ id, status, createdAt }: ExecutionRecord) => ({ id, status, createdAt })
  const all = [
    {
      sandbox: old.id,
      lastExecution: { id: earlier.id, status: 'Succeeded', createdAt: expect.any(String) },
      ...nothing,
    },
    { sandbox: unused.id, lastExecution: null, ...nothing },
    { sandbox: paid.id, lastExecution: of(last!), ended: 3, succeeded: 2, chargedMicro },
  ]
  expect(await list()).toEqual({ data: all, nextCursor: null })
  const page = await list('?limit=2')
  expect(page).toEqual({ data: all.slice(0, 2), nextCursor: unused.id })
  expect(await list(`?limit=2&cursor=${page.nextCursor}`)).toEqual({ data: all.slice(2), nextCursor: null })
})

test('counts an execution in progress only as the last one', async ({ flow, stack, fixture }) => {
  const { id } = await flow.made(echo)
  const execution = fixture.id('exe')
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, created_at, deadline_at)
     VALUES ($1, $2, $3, 1, $4, 'invoke', 'Running', now(), now() + interval '5 minutes')`,
    [execution, stack.project, id, stack.owner.id],
  )
  const { body } = await stack.owner.get(`${stack.projectPath}/sandboxes/activity`)
  expect(body.data).toMatchObject([{ lastExecution: { id: execution, status: 'Running' }, ended: 0, succeeded: 0 }])
})

test('finds the activity of 500 sandbox products by their index, and counts at most the newest 1,000 executions of one', async ({
  stack,
  fixture,
  database,
}) => {
  await fixture.run(
    `INSERT INTO control.sandboxes (id, project, name, description, created_by)
     SELECT 'sbx-' || $1 || '-' || n, $1, 'Flow', '', $2 FROM generate_series(1, 500) n`,
    [stack.project, stack.owner.id],
  )
  const executions = `
    INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, output, created_at, deadline_at, completed_at)
    SELECT 'exe_' || $1 || $3 || n, $1, 'sbx-' || $1 || '-' || (n % $5 + 1), 1, $2, 'invoke', 'Succeeded', '{}', at, at, at
      FROM generate_series(1, $4::integer) n, LATERAL (SELECT now() - n * interval '1 minute' AS at) i`
  await fixture.run(executions, [stack.project, stack.owner.id, 'each', 10_000, 500])
  await fixture.run(executions, [stack.project, stack.owner.id, 'busy', 20_000, 1])
  await fixture.run('ANALYZE control.sandboxes, money.executions')
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  try {
    const from = new Date(Date.now() - 30 * 86_400_000)
    const query = findActivity({ project: stack.project, after: null, limit: 500, from })
    // Each execution twice, with the bitmap of an index. Without it, all would be read for each flow.
    await expectRowsRead(prisma, query, { most: 3 * 30_000, what: 'activity' })
  } finally {
    await close()
  }
  const { body } = await stack.owner.get(`${stack.projectPath}/sandboxes/activity?limit=500`)
  const busy = body.data.find(({ sandbox }: { sandbox: string }) => sandbox === `sbx-${stack.project}-1`)
  expect([body.data.length, busy.ended, body.data[1].ended]).toEqual([500, 1_000, 20])
})
