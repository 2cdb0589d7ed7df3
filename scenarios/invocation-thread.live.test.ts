import { expect } from 'vitest'
import { callerAt } from './src/caller.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'
import { chat } from './src/stack.ts'

// The ID in `X-Service-Invocation` identifies the call in the calls list, the usage and the books of its project.

// spec: 4.2/s18
test('X-Service-Invocation names the call that is listed, counted and charged', async ({ stack }) => {
  const tenant = await stack.tenant(1_000_000n)
  const owner = callerAt(stack.gateways[0]!.url, (await stack.fixture.token(tenant.owner)).secret)
  const projectPath = `/api/v2/tenants/${tenant.project.tenant}/projects/${tenant.project.id}`
  const charged: number[] = []
  for (const stream of [false, true]) {
    const answer = await chat(stack, tenant, { body: { stream } })
    await answer.text()
    const id = answer.headers.get('x-service-invocation')!
    const { body: call } = await owner.ask('GET', `${projectPath}/invocations/${id}`)
    expect(call).toMatchObject({ id, key: tenant.key.id, model: tenant.model, state: 'Settled' })
    expect(call.chargedMicro).toBe(call.promptTokens + call.completionTokens) // one micro-USD per token
    charged.push(call.chargedMicro)
    const { rows } = await stack.fixture.run(
      'SELECT charged_micro FROM money.attempts WHERE project = $1 AND invocation = $2',
      [tenant.project.id, id],
    )
    expect(rows).toEqual([{ charged_micro: String(call.chargedMicro) }])
  }
  const { body: usage } = await owner.ask('GET', `${projectPath}/usage?by=key`)
  const totalMicro = charged[0]! + charged[1]!
  expect(usage).toMatchObject({
    data: [{ group: tenant.key.id, calls: 2, chargedMicro: totalMicro }],
    total: { chargedMicro: totalMicro },
  })
  expect((await stack.wallet(tenant.project.id)).settled).toBe(BigInt(totalMicro))
})
