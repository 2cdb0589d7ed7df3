import { expect } from 'vitest'
import type { ExecutionDetail } from '@gateway/api/execution'
import { outcomeOf } from '../console.fixture.ts'
import { asking, echo } from '../sandboxes/graphs.fixture.ts'
import { executionTest as test, input } from './executions.fixture.ts'

test('cancels an execution once, and audits who did it without showing an Admin which sandbox product it was', async ({
  flow,
  stack,
  services,
  fixture,
}) => {
  const { id: sandbox, path, execute } = await flow.made(asking(flow.product))
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const executed = execute(input)
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [sandbox])
  const { id } = (rows as [{ id: string }])[0]
  const stop = (caller = stack.owner) => caller.post(`${stack.projectPath}/executions/${id}/cancel`)
  const consumer = await stack.member({ project: 'Project Consumer' })
  const viewer = await stack.member({ project: 'Project Viewer' })
  expect(outcomeOf(await stop(viewer))).toBe('404 execution_not_found')
  expect((await stop(consumer)).body).toMatchObject({ id, error: { code: 'execution_cancelled' } })
  const record = (await executed).body as ExecutionDetail
  expect(record).toMatchObject({ id, status: 'Cancelled', chargedMicro: 0, error: { details: { by: 'user' } } })
  expect((await stop()).body).toEqual(record)
  await control.clearFaults()

  const { rows: audit } = await fixture.run(
    `SELECT user_id, subject, details FROM control.audit WHERE action = 'sandbox.execution.cancel' AND tenant = $1`,
    [stack.tenant],
  )
  expect(audit).toEqual([{ user_id: consumer.id, subject: sandbox, details: { execution: id } }])
  const admin = await stack.member({ tenant: 'Admin' })
  const entries = (await admin.get(`${stack.path}/audit`)).body.data as { action: string; subject: string }[]
  const entry = entries.find(({ action }) => action === 'sandbox.execution.cancel')
  expect(entry).toMatchObject({ subject: 'sbx-…', details: {} })
  const list = await stack.owner.get(`${path}/executions`)
  expect(list.body.data).toMatchObject([{ id, status: 'Cancelled', error: { code: 'execution_cancelled' } }])
})

test('cancelling leaves an ended execution unchanged, and responds with 404 for an unknown one [execution_not_found]', async ({
  flow,
  stack,
  fixture,
}) => {
  const { execute } = await flow.made(echo)
  const record = (await execute(input)).body as ExecutionDetail
  const stop = (id: string) => stack.owner.post(`${stack.projectPath}/executions/${id}/cancel`)
  expect((await stop(record.id)).body).toEqual(record)
  expect(outcomeOf(await stop(fixture.id('exe')))).toBe('404 execution_not_found')
  const { rows } = await fixture.run(
    `SELECT FROM control.audit WHERE action = 'sandbox.execution.cancel' AND tenant = $1`,
    [stack.tenant],
  )
  expect(rows).toEqual([])
})
