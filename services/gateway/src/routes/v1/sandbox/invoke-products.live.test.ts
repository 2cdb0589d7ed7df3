import type { ExecutionRecord } from '@gateway/api/execution'
import { expect } from 'vitest'
import { chain, flowTest as test, newKey, recordOf } from '../../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../../stack.fixture.ts'

/** Calls one model, then passes its response to another. */
function twoProducts(first: string, second: string) {
  const graph = chain(first, 1)
  return { ...graph, nodes: graph.nodes.map((node) => (node.id === 'step1' ? { ...node, product: second } : node)) }
}

test('refuses a flow that calls an unassigned or suspended product before anything is charged [product_not_assigned]', async ({
  tenant,
  flows,
  fixture,
}) => {
  const later = await tenant.sell()
  const sandbox = await flows.save(twoProducts(tenant.model, later))
  const headers = { 'idempotency-key': newKey() }
  const before = await (await flows.invoke(sandbox, { text: 'a' }, { headers })).text()
  const charged = await tenant.settled()
  for (const [take, give] of [
    [
      'DELETE FROM control.assignments WHERE product = $1 AND project = $2',
      'INSERT INTO control.assignments (product, project) VALUES ($1, $2)',
    ],
    [
      `UPDATE control.products SET state = 'suspended' WHERE id = $1 AND $2 <> ''`,
      `UPDATE control.products SET state = 'published' WHERE id = $1 AND $2 <> ''`,
    ],
  ] as const) {
    await fixture.run(take, [later, tenant.project])
    const refused = await flows.invoke(sandbox, { text: 'a' })
    expect(refused.status).toBe(403)
    const error = await errorOf(refused)
    expect(error).toMatchObject({ code: 'product_not_assigned', message: expect.stringContaining(later) as string })
    const repeat = await flows.invoke(sandbox, { text: 'a' }, { headers })
    expect([repeat.headers.get('idempotent-replayed'), await repeat.text()]).toEqual(['true', before])
    expect([await flows.executions(), await tenant.settled()]).toEqual([1, charged])
    await fixture.run(give, [later, tenant.project])
  }
  expect((await recordOf(await flows.invoke(sandbox, { text: 'a' }))).status).toBe('Succeeded')
})

test('the record of an execution lists exactly its admitted calls', async ({ stack, tenant, flows, fixture }) => {
  const refusing = await tenant.sell()
  const sandbox = await flows.save(twoProducts(tenant.model, refusing))
  const callsOf = async (record: ExecutionRecord) => {
    const { rows } = await fixture.run('SELECT invocation, state FROM money.attempts WHERE execution = $1 ORDER BY 1', [
      record.id,
    ])
    return rows as { invocation: string; state: string }[]
  }

  // The second call is too large for its model and is refused at admission, after a call that is charged.
  await fixture.run('UPDATE control.products SET context_length = 21, max_output_tokens = 20 WHERE id = $1', [refusing])
  const refused = await recordOf(await flows.invoke(sandbox, { text: newPrompt() }))
  expect(refused).toMatchObject({ status: 'Failed', error: { code: 'context_limit' } })
  const [charged] = await callsOf(refused)
  expect(refused.childCalls).toEqual([charged!.invocation])
  expect(refused.nodes.find(({ id }) => id === 'step1')).toMatchObject({ status: 'Failed', callId: null })

  // The provider of the second call fails: the call was admitted, then released.
  await fixture.run('UPDATE control.products SET context_length = 9000 WHERE id = $1', [refusing])
  await fixture.run(
    `UPDATE control.products SET providers = '[{"provider":"simulated","model":"down","priority":1}]' WHERE id = $1`,
    [refusing],
  )
  await stack.provider.control.setFaults([{ model: 'down', status: 500 }])
  const failed = await recordOf(await flows.invoke(sandbox, { text: newPrompt() }))
  expect(failed).toMatchObject({ status: 'Failed', error: { code: 'provider_failed' } })
  const calls = await callsOf(failed)
  expect(calls.map(({ state }) => state).toSorted()).toEqual(['Released', 'Settled'])
  expect(failed.childCalls.toSorted()).toEqual(calls.map(({ invocation }) => invocation).toSorted())
})
