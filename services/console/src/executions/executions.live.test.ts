import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { ExecutionDetail, ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import { executionDetailShape, executionSummaryShape } from '@gateway/api/execution'
import { answerOf, outcomeOf } from '../console.fixture.ts'
import { asking, echo, unwired } from '../sandboxes/graphs.fixture.ts'
import { executionTest as test, input } from './executions.fixture.ts'

// Executions that a user starts in the console, on the full stack.

test('responds to an execution with its record, which can then be read and listed', async ({ flow, stack }) => {
  const { id, path, execute } = await flow.made(asking(flow.product))
  const answer = await execute(input)
  expect([outcomeOf(answer), answer.headers.get('Content-Type')]).toEqual(['200', 'application/json; charset=utf-8'])
  const record = answer.body as ExecutionDetail
  executionDetailShape.parse(record)
  expect(record).toMatchObject({
    object: 'sandbox.execution',
    sandbox: id,
    revision: 1,
    project: stack.project,
    status: 'Succeeded',
    input,
    output: { text: expect.any(String) },
    error: null,
  })
  expect(answer.headers.get('X-Service-Invocation')).toBe(record.id)
  expect(record.chargedMicro).toBeGreaterThan(0)
  expect((await stack.owner.get(`${stack.projectPath}/executions/${record.id}`)).body).toEqual(record)

  const again = (await execute(input)).body as ExecutionRecord
  const { nodes: _nodes, input: _input, output: _output, childCalls: _calls, ...summary } = record
  const list = await stack.owner.get(`${path}/executions`)
  for (const execution of list.body.data) executionSummaryShape.parse(execution)
  expect(list.body).toMatchObject({ data: [{ id: again.id }, summary], nextCursor: null })
  const first = await stack.owner.get(`${path}/executions?limit=1`)
  const rest = await stack.owner.get(`${path}/executions?cursor=${first.body.nextCursor}`)
  expect([...first.body.data, ...rest.body.data]).toEqual(list.body.data)
  expect(outcomeOf(await stack.owner.get(`${path}/executions?cursor=x`))).toBe('400 invalid_request')
})

test('an execution stops at the ceiling the user set, which its record and the list show [ceiling_reached]', async ({
  flow,
  stack,
}) => {
  const { path, execute } = await flow.made(asking(flow.product))
  const { chargedMicro } = (await execute(input)).body as ExecutionRecord
  const failed = (await execute(input, { maxMicro: chargedMicro - 1 })).body as ExecutionRecord
  expect(failed).toMatchObject({
    status: 'Failed',
    maxMicro: chargedMicro - 1,
    chargedMicro: 0,
    error: { code: 'ceiling_reached' },
  })
  expect((await stack.owner.get(`${path}/executions`)).body.data).toMatchObject([
    { id: failed.id, maxMicro: chargedMicro - 1 },
    { maxMicro: null },
  ])
})

// spec: 8.3/s3
test('lists the calls of the nodes of an execution among the invocations, without a key', async ({ flow, stack }) => {
  const { execute } = await flow.made(asking(flow.product))
  const { id, childCalls, chargedMicro } = (await execute(input)).body as ExecutionRecord
  const calls = await stack.owner.get(`${stack.projectPath}/invocations`)
  const call = { id: childCalls[0], key: null, model: flow.product, execution: id, node: 'ask', chargedMicro }
  expect(calls.body.data).toMatchObject([{ ...call, state: 'Settled' }])
  expect((await stack.owner.get(`${stack.projectPath}/invocations/${call.id}`)).body).toMatchObject(call)
  const usage = await stack.owner.get(`${stack.projectPath}/usage?by=key`)
  expect(usage.body).toMatchObject({ data: [{ group: null, calls: 1, chargedMicro }], total: { chargedMicro } })
})

test('streams an execution as NDJSON with each line once, the record last', async ({ flow, stack }) => {
  const { follow } = await flow.made(asking(flow.product))
  const answer = await follow(input)
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson'])
  const lines = (await answer.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ProgressLine)
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, n) => n))
  expect(lines.map(({ kind }) => kind)).toEqual(['admitted', 'node', 'node', 'node', 'complete'])
  const last = lines.at(-1) as Extract<ProgressLine, { kind: 'complete' }>
  expect((await stack.owner.get(`${stack.projectPath}/executions/${last.execution.id}`)).body).toMatchObject(
    last.execution,
  )
})

// spec: 4.3/s14
test('executes any revision without problems, even if the sandbox product is suspended', async ({
  flow,
  stack,
  fixture,
}) => {
  const { id, path, execute } = await flow.made(echo)
  await stack.owner.post(`${path}/revisions`, { graph: unwired, draft: true })
  await stack.owner.post(`${path}/revisions`, { graph: echo, draft: true })
  await stack.owner.patch(path, { suspended: true })
  expect((await execute(input)).body).toMatchObject({ revision: 1, output: input })
  expect((await execute(input, { revision: 3 })).body).toMatchObject({ revision: 3, output: input })
  const draft = await execute(input, { revision: 2 })
  expect([outcomeOf(draft), draft.body.error.details.problems.length > 0]).toEqual(['422 graph_invalid', true])
  expect(outcomeOf(await execute(input, { revision: 4 }))).toBe('409 revision_not_active')
  const none = await fixture.run(
    'UPDATE control.sandboxes SET active_revision = NULL, activated_at = NULL WHERE id = $1',
    [id],
  )
  expect([none.rowCount, outcomeOf(await execute(input))]).toEqual([1, '409 revision_not_active'])
})

test.for([
  [{ input: { text: 1 } }, '422 input_type', 'input'],
  [{}, '400 invalid_request', 'input'],
  [{ input: 'Hello' }, '400 invalid_request', 'input'],
  [{ input: null }, '400 invalid_request', 'input'],
  [{ input, revision: 0 }, '400 invalid_request', 'revision'],
  [{ input, maxMicro: -1 }, '400 invalid_request', 'maxMicro'],
  [{ input, key: 'svc_x' }, '400 invalid_request', 'key'],
] as const)(
  'rejects an execution of %j with %s [input_type] [invalid_request]',
  async ([body, refusal, param], { flow, stack }) => {
    const { path } = await flow.made(echo)
    const answer = await stack.owner.post(`${path}/execute`, body)
    expect([outcomeOf(answer), answer.body.error.param]).toEqual([refusal, param])
    expect((await stack.owner.get(`${path}/executions`)).body.data).toEqual([])
  },
)

test.for([
  ['sandbox_not_found', 'DELETE FROM control.project_grants WHERE user_id = $1'],
  ['token_invalid', 'DELETE FROM control.user_tokens WHERE user_id = $1'],
] as const)(
  'sends no further lines and no record to a user who has lost access [%s]',
  async ([code, sql], { flow, stack, services, fixture }) => {
    const { id } = await flow.made(asking(flow.product))
    const project = { id: stack.project, tenant: stack.tenant, team: stack.team }
    const user = await fixture.issuer(project)
    const { secret } = await fixture.token(user)
    const { control } = services.provider
    await control.clearCalls()
    await control.setFaults([{ hold: true }])
    const execute = (accept: string) =>
      fetch(`${services.gateways[0]!.url}${stack.path}/sandboxes/${id}/execute`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, Accept: accept },
        body: JSON.stringify({ input }),
      })
    const [record, answer] = [execute('application/json').then(answerOf), await execute('application/x-ndjson')]
    const parts = answer.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
    let text = ''
    while (text.split('\n').length < 3) text += (await parts.next()).value
    await control.waitForCalls(2)
    await fixture.run(sql, [user])
    await control.clearFaults()
    await control.release()
    for (let part = await parts.next(); !part.done; part = await parts.next()) text += part.value
    const lines = text.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(['admitted', 'node', 'refused'])
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ error: { code } })
    expect((await record).body).toMatchObject({ error: { code } })
  },
)

// spec: 6/s5
test('an execution continues after its client disconnects', async ({ flow, stack, services }) => {
  const { path, follow } = await flow.made(asking(flow.product))
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const leaving = new AbortController()
  const answer = await follow(input, leaving.signal)
  const reader = answer.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('"kind":"admitted"')
  await control.waitForCalls(1)
  leaving.abort()
  await control.clearFaults()
  await control.release()
  const ended = async () => (await stack.owner.get(`${path}/executions`)).body.data[0].status as string
  await expect.poll(ended, { timeout: 20_000 }).toBe('Succeeded')
})

test('concurrent requests of a user with one idempotency key start and charge one execution [idempotency_mismatch]', async ({
  flow,
  stack,
  services,
}) => {
  const { path } = await flow.made(asking(flow.product))
  const key = { 'Idempotency-Key': randomUUID() }
  const execute = async (body: object, headers: Record<string, string> = key, { token } = stack.owner) =>
    answerOf(
      await fetch(`${services.gateways[0]!.url}${path}/execute`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(body),
      }),
    )
  const calls = await services.provider.control.countCalls()
  const answers = await Promise.all(
    [
      { input, revision: null },
      { revision: null, input },
      { input, revision: null },
    ].map((body) => execute(body)),
  )
  expect(answers.map(outcomeOf)).toEqual(['200', '200', '200'])
  for (const { body } of answers) expect(body).toEqual(answers[0]!.body)
  expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === 'true')).toHaveLength(2)
  expect(await services.provider.control.countCalls()).toBe(calls + 1)

  expect(outcomeOf(await execute({ input: { text: 'Else' } }))).toBe('422 idempotency_mismatch')
  const other = await execute({ input }, key, await stack.member({ project: 'Project Consumer' }))
  expect(other.body.id).not.toBe(answers[0]!.body.id)
  expect(outcomeOf(await execute({ input }, { 'Idempotency-Key': 'short' }))).toBe('400 idempotency_key_invalid')
})
