import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { executionDetailShape, executionSummaryShape, type ExecutionDetail } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { answerOf, outcomeOf, type Caller } from '../console.fixture.ts'
import { asking, echo } from '../sandboxes/graphs.fixture.ts'
import { executionTest, input } from './executions.fixture.ts'

const test = executionTest
  /** Reruns an execution from a node, through a gateway. */
  .extend('rerun', ({ stack, services }) => {
    return async (
      execution: string,
      body: unknown,
      headers: Record<string, string> = {},
      caller: Caller = stack.owner,
    ) =>
      fetch(`${services.gateways[0]!.url}${stack.projectPath}/executions/${execution}/rerun`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${caller.token}`, ...headers },
        body: JSON.stringify(body),
      })
  })
  .extend('audited', ({ stack, fixture }) => async () => {
    const { rows } = await fixture.run(
      `SELECT user_id, subject, details FROM control.audit WHERE action = 'sandbox.execution.rerun' AND tenant = $1 ORDER BY id`,
      [stack.tenant],
    )
    return rows
  })

/** in → ask → say → out */
const saying = (product: string, template = 'They said: {{ text }}'): Graph => ({
  ...asking(product),
  nodes: [...asking(product).nodes, { id: 'say', kind: 'template', template }],
  edges: [
    { from: 'in.text', to: 'ask.prompt' },
    { from: 'ask.text', to: 'say.text' },
    { from: 'say.text', to: 'out.text' },
  ],
})

test('reruns an execution from a node without charging for the nodes above it, and audits who did it', async ({
  flow,
  stack,
  services,
  rerun,
  audited,
}) => {
  const { id: sandbox, path, execute } = await flow.made(saying(flow.product))
  const first = (await execute(input)).body as ExecutionDetail
  const calls = await services.provider.control.countCalls()
  const consumer = await stack.member({ project: 'Project Consumer' })
  const said = await answerOf(await rerun(first.id, { from: 'say' }, {}, consumer))
  expect([outcomeOf(said), said.headers.get('Content-Type')]).toEqual(['200', 'application/json; charset=utf-8'])
  const second = said.body as ExecutionDetail
  executionDetailShape.parse(second)
  expect(said.headers.get('X-Service-Invocation')).toBe(second.id)
  expect(said.headers.get('Idempotent-Replayed')).toBeNull()
  expect(second).toMatchObject({ rerunOf: first.id, status: 'Succeeded', input, output: first.output, chargedMicro: 0 })
  expect(second.nodes.map(({ id, takenOver }) => [id, takenOver])).toEqual([
    ['in', true],
    ['out', false],
    ['ask', true],
    ['say', false],
  ])
  expect(await services.provider.control.countCalls()).toBe(calls)

  const whole = (await answerOf(await rerun(first.id, { from: 'in' }))).body as ExecutionDetail
  expect(whole).toMatchObject({ rerunOf: first.id, chargedMicro: first.chargedMicro })
  expect(await services.provider.control.countCalls()).toBe(calls + 1)
  const details = (execution: string, from: string) => ({ execution, rerunOf: first.id, from })
  expect(await audited()).toEqual([
    { user_id: consumer.id, subject: sandbox, details: details(second.id, 'say') },
    { user_id: stack.owner.id, subject: sandbox, details: details(whole.id, 'in') },
  ])
  const list = await stack.owner.get(`${path}/executions`)
  for (const execution of list.body.data) executionSummaryShape.parse(execution)
  expect(list.body.data).toMatchObject([{ id: whole.id }, { id: second.id, rerunOf: first.id }, { rerunOf: null }])
})

test('streams a rerun as NDJSON with the reused nodes first, without gaps in the sequence', async ({ flow, rerun }) => {
  const { execute } = await flow.made(saying(flow.product))
  const first = (await execute(input)).body as ExecutionDetail
  const answer = await rerun(first.id, { from: 'out' }, { Accept: 'application/x-ndjson' })
  expect(answer.headers.get('Content-Type')).toBe('application/x-ndjson')
  const lines = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; seq: number; node?: { id: string } })
  expect(lines.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
  expect(lines.map(({ kind, node }) => node?.id ?? kind)).toEqual(['admitted', 'in', 'ask', 'say', 'out', 'complete'])
})

test('concurrent reruns with one idempotency key start one execution and write one audit row [idempotency_mismatch]', async ({
  flow,
  rerun,
  audited,
  stack,
}) => {
  const { execute } = await flow.made(saying(flow.product))
  const first = (await execute(input)).body as ExecutionDetail
  const key = { 'Idempotency-Key': randomUUID() }
  const answers = await Promise.all(
    [{ from: 'say' }, { from: 'say', revision: null }, { from: 'say' }].map(async (body) =>
      answerOf(await rerun(first.id, body, key)),
    ),
  )
  expect(answers.map(outcomeOf)).toEqual(['200', '200', '200'])
  for (const { body } of answers) expect(body).toEqual(answers[0]!.body)
  expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === 'true')).toHaveLength(2)
  for (const body of [{ from: 'ask' }, { from: 'say', revision: 1 }])
    expect(outcomeOf(await answerOf(await rerun(first.id, body, key)))).toBe('422 idempotency_mismatch')
  const other = await stack.member({ project: 'Project Consumer' })
  const theirs = await answerOf(await rerun(first.id, { from: 'say' }, key, other))
  expect(theirs.body.id).not.toBe(answers[0]!.body.id)
  await stack.fixture.run(`DELETE FROM control.project_grants WHERE user_id = $1`, [other.id])
  expect(outcomeOf(await answerOf(await rerun(first.id, { from: 'say' }, key, other)))).toBe('404 execution_not_found')
  expect(await audited()).toHaveLength(2)
  expect(outcomeOf(await answerOf(await rerun(first.id, { from: 'say' }, { 'Idempotency-Key': 'short' })))).toBe(
    '400 idempotency_key_invalid',
  )
})

test('reruns with another revision if the nodes above are the same, and names those that differ [rerun_differs]', async ({
  flow,
  stack,
  rerun,
}) => {
  const { path, execute } = await flow.made(saying(flow.product))
  const first = (await execute(input)).body as ExecutionDetail
  await stack.owner.post(`${path}/revisions`, { graph: saying(flow.product, 'Louder: {{ text }}') })
  const second = (await answerOf(await rerun(first.id, { from: 'say', revision: 2 }))).body as ExecutionDetail
  expect(second).toMatchObject({ status: 'Succeeded', revision: 2, chargedMicro: 0 })
  expect(second.output!['text']).toBe(`Louder: ${String(first.nodes[2]!.output!['text'])}`)
  const differs = await answerOf(await rerun(first.id, { from: 'out', revision: 2 }))
  expect([outcomeOf(differs), differs.body.error.param, differs.body.error.details]).toEqual([
    '422 rerun_differs',
    'revision',
    { nodes: ['say'] },
  ])
  expect(outcomeOf(await answerOf(await rerun(first.id, { from: 'out', revision: 3 })))).toBe('409 revision_not_active')
})

test.for([
  [{}, 'from'],
  [{ from: '' }, 'from'],
  [{ from: 'nowhere' }, 'from'],
  [{ from: 'out', revision: 0 }, 'revision'],
  [{ from: 'out', revision: 3_000_000_000 }, 'revision'],
  [{ from: 'out', input: {} }, 'input'],
] as const)('rejects a rerun of %j [invalid_request]', async ([body, param], { flow, stack, rerun }) => {
  const { path, execute } = await flow.made(echo)
  const { id } = (await execute(input)).body as ExecutionDetail
  const answer = await answerOf(await rerun(id, body))
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
  expect((await stack.owner.get(`${path}/executions`)).body.data).toHaveLength(1)
})

test('refuses to rerun an execution that has not ended [execution_not_ended], or for a Project Viewer [execution_not_found]', async ({
  flow,
  stack,
  services,
  rerun,
  fixture,
}) => {
  const { id: sandbox, execute } = await flow.made(asking(flow.product))
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const executed = execute(input)
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [sandbox])
  const { id } = (rows as [{ id: string }])[0]
  const refused = await answerOf(await rerun(id, { from: 'ask' }))
  expect(outcomeOf(refused)).toBe('409 execution_not_ended')
  expect(refused.body.error.resolution).toContain('stop it')
  await stack.owner.post(`${stack.projectPath}/executions/${id}/cancel`)
  expect((await executed).body).toMatchObject({ status: 'Cancelled' })
  await control.clearFaults()
  const viewer = await stack.member({ project: 'Project Viewer' })
  expect(outcomeOf(await answerOf(await rerun(id, { from: 'ask' }, {}, viewer)))).toBe('404 execution_not_found')
  const again = (await answerOf(await rerun(id, { from: 'ask' }))).body as ExecutionDetail
  expect(again).toMatchObject({ status: 'Succeeded', rerunOf: id })
  expect(again.chargedMicro).toBeGreaterThan(0)
})
