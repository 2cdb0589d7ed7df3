import { sandboxEstimate, type SandboxEstimate } from '@gateway/api/estimate'
import { expect } from 'vitest'
import { chain, echo, flowTest as test, recordOf } from '../../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../../stack.fixture.ts'

const NONE = { executions: 0, minMicro: null, medianMicro: null, p90Micro: null, maxMicro: null }

test('returns a maximum that the execution does not exceed, and the actual charge after it has run', async ({
  tenant,
  flows,
}) => {
  const sandbox = await flows.save(chain(tenant.model))
  const input = { text: newPrompt() }
  const estimated = async () => {
    const answer = await fetch(`${tenant.url}/v1/sandbox/${sandbox}/estimate`, {
      method: 'POST',
      headers: tenant.headers,
      body: JSON.stringify({ input }),
    })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    return sandboxEstimate.parse(await answer.json())
  }
  const before: SandboxEstimate = await estimated()
  expect(before).toMatchObject({
    sandbox,
    revision: 1,
    nodes: [{ id: 'step0', atMostMicro: before.atMostMicro }],
    last: NONE,
  })
  expect([await flows.executions(), await tenant.settled()]).toEqual([0, 0])

  const record = await recordOf(await flows.invoke(sandbox, input, { fields: { maxMicro: before.atMostMicro } }))
  expect(record).toMatchObject({ status: 'Succeeded', maxMicro: before.atMostMicro })
  expect(record.chargedMicro).toBeLessThanOrEqual(before.atMostMicro)
  const { chargedMicro: micro } = record
  expect((await estimated()).last).toEqual({
    samePackage: true,
    executions: 1,
    minMicro: micro,
    medianMicro: micro,
    p90Micro: micro,
    maxMicro: micro,
  })
  const short = await recordOf(await flows.invoke(sandbox, input, { fields: { maxMicro: before.atMostMicro - 1 } }))
  expect(short).toMatchObject({ status: 'Failed', error: { code: 'ceiling_reached' } })
})

test.for([
  [{ input: { text: 1 } }, 422, 'input_type'],
  [{}, 400, 'invalid_request'],
  [{ input: { text: 'a' }, maxMicro: 1 }, 400, 'invalid_request'],
  [{ input: { text: 'a' }, revision: 7 }, 409, 'revision_not_active'],
  [{ input: { text: 'a' }, project_id: 'prj_other' }, 403, 'project_mismatch'],
] as const)(
  'estimating %j gets the error of an invocation: %i %s [input_type] [revision_not_active] [project_mismatch]',
  async ([body, status, code], { tenant, flows }) => {
    const sandbox = await flows.save(echo)
    const answer = await fetch(`${tenant.url}/v1/sandbox/${sandbox}/estimate`, {
      method: 'POST',
      headers: tenant.headers,
      body: JSON.stringify(body),
    })
    expect([answer.status, (await errorOf(answer)).code]).toEqual([status, code])
  },
)
