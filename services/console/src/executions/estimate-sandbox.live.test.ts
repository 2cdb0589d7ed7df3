import { sandboxEstimate } from '@gateway/api/estimate'
import type { ExecutionRecord } from '@gateway/api/execution'
import { expect } from 'vitest'
import { outcomeOf } from '../console.fixture.ts'
import { asking, echo, unwired } from '../sandboxes/graphs.fixture.ts'
import { executionTest as test, input } from './executions.fixture.ts'

test('estimates the max cost of any revision, and reports what earlier executions were charged', async ({
  flow,
  stack,
}) => {
  const { path, execute } = await flow.made(asking(flow.product))
  const estimated = async (more: object = {}) =>
    sandboxEstimate.parse((await stack.owner.post(`${path}/estimate`, { input, ...more })).body)
  const before = await estimated()
  const { chargedMicro } = (await execute(input, { maxMicro: before.atMostMicro })).body as ExecutionRecord
  expect(chargedMicro).toBeGreaterThan(0)
  expect(chargedMicro).toBeLessThanOrEqual(before.atMostMicro)
  expect((await estimated()).last).toMatchObject({ samePackage: true, executions: 1, maxMicro: chargedMicro })
  await stack.owner.post(`${path}/revisions`, { graph: echo })
  expect(await estimated({ revision: 2 })).toMatchObject({
    revision: 2,
    atMostMicro: 0,
    nodes: [],
    last: { samePackage: false, executions: 1, maxMicro: chargedMicro }, // this package has no executions, so those of the previous package are reported
  })
})

test('refuses an estimate for the same reasons as an execution, and to callers who may not execute [input_type] [graph_invalid] [product_not_assigned] [sandbox_not_found]', async ({
  flow,
  stack,
}) => {
  const { path } = await flow.made(asking(flow.product))
  const ask = async (body: object, who = stack.owner) => outcomeOf(await who.post(`${path}/estimate`, body))
  expect(await ask({ input: { text: 1 } })).toBe('422 input_type')
  expect(await ask({ input, maxMicro: 5 })).toBe('400 invalid_request')
  await stack.owner.post(`${path}/revisions`, { graph: unwired, draft: true })
  expect(await ask({ input, revision: 2 })).toBe('422 graph_invalid')
  expect(await ask({ input }, await stack.member({ team: 'Team Owner', project: 'Project Viewer' }))).toBe(
    '404 sandbox_not_found',
  )
  expect(await ask({ input }, await stack.member({ project: 'Project Consumer' }))).toBe('200')
  await stack.owner.delete(`${stack.projectPath}/assignments/${encodeURIComponent(flow.product)}`)
  expect(await ask({ input })).toBe('403 product_not_assigned')
})
