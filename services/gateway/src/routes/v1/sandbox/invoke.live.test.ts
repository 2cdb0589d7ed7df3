import { describe, expect } from 'vitest'
import { ask, chain, echo, flowTest as test, linesOf, newKey, PROGRESS, recordOf } from '../../../flow-stack.fixture.ts'
import { idOfRequest } from '@gateway/api/ids'
import { errorOf, newPrompt } from '../../../stack.fixture.ts'

describe('POST /v1/sandbox/{id}/invoke', () => {
  // spec: 1/s1, 1/s8, 1/s12, 2.4/s1, 4.3/s12
  test('returns the record of the execution, names it in a header, and the record can be re-read', async ({
    tenant,
    flows,
  }) => {
    const sandbox = await flows.save(ask(tenant.model))
    const answer = await flows.invoke(sandbox, { topic: newPrompt(), tone: 'dry' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('idempotent-replayed')).toBeNull()
    const record = await recordOf(answer)
    expect(record.id).toBe(idOfRequest('exe', answer.headers.get('x-request-id')!))
    expect(answer.headers.get('x-service-invocation')).toBe(record.id)
    expect(record).toMatchObject({
      id: expect.stringMatching(/^exe_/) as string,
      object: 'sandbox.execution',
      sandbox,
      revision: 1,
      project: tenant.project,
      status: 'Succeeded',
      output: { text: expect.any(String) as string },
      error: null,
    })
    expect(record.nodes.map(({ id }) => id)).toEqual(['in', 'out', 'prompt', 'draft'])
    expect(record.chargedMicro).toBe(record.nodes.at(-1)!.chargedMicro)
    expect(record.chargedMicro).toBe(await tenant.settled())

    const again = await flows.get(`/v1/executions/${record.id}`)
    expect(again.headers.get('x-service-invocation')).toBe(record.id)
    expect(again.headers.get('cache-control')).toBe('private, no-store')
    expect(await recordOf(again)).toEqual(record)
  })

  // spec: 2.4/s3, 4.3/s12
  test('returns the record of a failed execution with its charge', async ({ stack, tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const topic = newPrompt()
    await stack.provider.control.setFaults([{ prompt: topic, status: 500 }])
    const answer = await flows.invoke(sandbox, { text: topic })
    expect(answer.status).toBe(200)
    expect(await recordOf(answer)).toMatchObject({
      status: 'Failed',
      output: null,
      error: { code: 'provider_failed', resolution: expect.any(String) as string },
      chargedMicro: 0,
    })
  })

  // spec: 4.3/s2, 9/s4
  test('accepts the number of the active revision', async ({ flows }) => {
    const sandbox = await flows.save(echo)
    const answer = await flows.invoke(sandbox, { text: 'Hello' }, { fields: { revision: 1 } })
    expect(await recordOf(answer)).toMatchObject({ revision: 1, output: { text: 'Hello' } })
  })

  test('never charges more than maxMicro, which is in the record [ceiling_reached]', async ({ tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const input = { text: newPrompt() }
    const invoked = async (maxMicro: unknown) => recordOf(await flows.invoke(sandbox, input, { fields: { maxMicro } }))
    const free = await invoked(null)
    expect(free).toMatchObject({ status: 'Succeeded', maxMicro: null })
    const failed = await invoked(free.chargedMicro - 1)
    expect(failed).toMatchObject({ status: 'Failed', maxMicro: free.chargedMicro - 1, chargedMicro: 0 })
    expect(failed.error).toMatchObject({
      code: 'ceiling_reached',
      details: {
        maxMicro: free.chargedMicro - 1,
        chargedMicro: 0,
        reservedMicro: 0,
        neededMicro: expect.any(Number) as number,
      },
    })
    const { neededMicro } = failed.error!.details as { neededMicro: number }
    expect(await invoked(neededMicro)).toMatchObject({ status: 'Succeeded', maxMicro: neededMicro })
  })

  // spec: 3.1/r1
  test('finishes on the revision it started with if another one is activated', async ({
    stack,
    tenant,
    flows,
    fixture,
  }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, hold: true }])
    const answer = flows.invoke(sandbox, { text })
    await stack.provider.control.waitForCalls(1, { prompt: text })
    await fixture.revision(sandbox, echo)
    expect(await recordOf(await flows.invoke(sandbox, { text }))).toMatchObject({ revision: 2, output: { text } })
    await stack.provider.control.release()
    const record = await recordOf(await answer)
    expect(record).toMatchObject({ revision: 1, status: 'Succeeded' })
    expect(record.nodes.map(({ id }) => id)).toEqual(['in', 'out', 'step0'])
    expect(record.output).toEqual(record.nodes.at(-1)!.output)
    expect(record.chargedMicro).toBeGreaterThan(0)
  })

  // spec: 6/s5
  test('keeps running if its caller disconnects', async ({ stack, tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, hold: true }])
    const leaving = new AbortController()
    const headers = { 'idempotency-key': newKey() }
    const left = flows.invoke(sandbox, { text }, { headers, signal: leaving.signal })
    await stack.provider.control.waitForCalls(1, { prompt: text })
    leaving.abort()
    await expect(left).rejects.toThrow()
    await stack.provider.control.release()
    const answer = await flows.invoke(sandbox, { text }, { headers })
    expect(answer.headers.get('idempotent-replayed')).toBe('true')
    expect(await recordOf(answer)).toMatchObject({ status: 'Succeeded' })
    expect(await flows.executions()).toBe(1)
    expect(await stack.provider.control.countCalls({ prompt: text })).toBe(1)
  })
})

describe('a repeat under the same idempotency key', () => {
  // spec: 4.3/s7
  test('returns the same execution, charged once, as a record or as progress', async ({ tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const input = { text: newPrompt() }
    const headers = { 'idempotency-key': newKey() }
    const first = await recordOf(await flows.invoke(sandbox, input, { headers }))
    const charged = await tenant.settled()
    const repeat = await flows.invoke(sandbox, input, { headers, fields: { project_id: tenant.project } })
    expect(repeat.headers.get('idempotent-replayed')).toBe('true')
    expect(repeat.headers.get('x-service-invocation')).toBe(first.id)
    expect(await recordOf(repeat)).toEqual(first)

    const progress = await flows.invoke(sandbox, input, { headers: { ...headers, ...PROGRESS } })
    expect(progress.headers.get('idempotent-replayed')).toBe('true')
    expect(linesOf(await progress.text()).at(-1)).toMatchObject({ kind: 'complete', execution: first })
    expect(await tenant.settled()).toBe(charged)
    expect(await flows.executions()).toBe(1)
  })

  test('joins the running execution', async ({ stack, tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, hold: true }])
    const headers = { 'idempotency-key': newKey() }
    const calls = Array.from({ length: 8 }, () => flows.invoke(sandbox, { text }, { headers }))
    await stack.provider.control.waitForCalls(1, { prompt: text })
    await stack.provider.control.release()
    const records = await Promise.all(calls.map(async (call) => recordOf(await call)))
    expect(new Set(records.map(({ id }) => id)).size).toBe(1)
    expect(await stack.provider.control.countCalls({ prompt: text })).toBe(1)
  })

  test('is refused if the input, revision or ceiling differs [idempotency_mismatch]', async ({ flows }) => {
    const sandbox = await flows.save(echo)
    const headers = { 'idempotency-key': newKey() }
    expect((await flows.invoke(sandbox, { text: 'a' }, { headers })).status).toBe(200)
    for (const other of [
      flows.invoke(sandbox, { text: 'b' }, { headers }),
      flows.invoke(sandbox, { text: 'a' }, { headers, fields: { revision: 1 } }),
      flows.invoke(sandbox, { text: 'a' }, { headers, fields: { maxMicro: 0 } }),
    ]) {
      const answer = await other
      expect(answer.status).toBe(422)
      expect(await errorOf(answer)).toMatchObject({ code: 'idempotency_mismatch' })
    }
    expect(await flows.executions()).toBe(1)
  })

  // spec: 4.3/s10
  test('returns the same execution after another revision is activated, which only a new key executes', async ({
    flows,
    fixture,
  }) => {
    const sandbox = await flows.save(echo)
    const headers = { 'idempotency-key': newKey() }
    const first = await recordOf(await flows.invoke(sandbox, { text: 'a' }, { headers }))
    await fixture.revision(sandbox, { ...echo, nodes: [...echo.nodes, { id: 'c', kind: 'constant', value: 'x' }] })
    expect(await recordOf(await flows.invoke(sandbox, { text: 'a' }, { headers }))).toEqual(first)
    expect(await recordOf(await flows.invoke(sandbox, { text: 'a' }))).toMatchObject({ revision: 2 })
  })

  test('starts a separate execution of another sandbox product', async ({ flows }) => {
    const [one, other] = [await flows.save(echo), await flows.save(echo)]
    const headers = { 'idempotency-key': newKey() }
    const ids = [one, other].map(
      async (sandbox) => (await recordOf(await flows.invoke(sandbox, { text: 'a' }, { headers }))).id,
    )
    expect(new Set(await Promise.all(ids)).size).toBe(2)
  })
})

describe('an invocation is refused without starting an execution', () => {
  // Which one is refused for what: read-invocation.test, start-batcher.live.test, isolation.scenario.
  // spec: 1/s10, 4.3/s1
  test('and the refusal has its status, param and details [invalid_json, request_too_large, method_not_allowed, project_mismatch, input_type]', async ({
    tenant,
    flows,
  }) => {
    const sandbox = await flows.save(ask(tenant.model))
    const path = `/v1/sandbox/${sandbox}/invoke`
    const headers = { ...tenant.headers, 'idempotency-key': newKey() }
    const send = (body: string) => fetch(tenant.url + path, { method: 'POST', headers, body })
    const topic = 'a'
    const refusals = await Promise.all([
      send('{'),
      send(JSON.stringify({ input: { topic: 'x'.repeat(2 * 1024 * 1024) } })),
      flows.get(path),
      flows.invoke(sandbox, { topic }, { headers: { 'x-service-project': 'prj_other' } }),
      flows.invoke(sandbox, { topic }, { headers: { 'x-project-id': 'prj_other' } }),
      flows.invoke(sandbox, { topic }, { fields: { project_id: 'prj_other' } }),
      flows.invoke(sandbox, { topic: {}, tone: 'loud' }),
    ])
    expect(await Promise.all(refusals.map(async (answer) => [answer.status, await errorOf(answer)]))).toMatchObject([
      [400, { code: 'invalid_json' }],
      [413, { code: 'request_too_large' }],
      [405, { code: 'method_not_allowed' }],
      [403, { code: 'project_mismatch' }],
      [403, { code: 'project_mismatch' }],
      [403, { code: 'project_mismatch' }],
      [422, { code: 'input_type', param: 'input', details: { fields: [{ field: 'tone' }, { field: 'topic' }] } }],
    ])
    expect(await flows.executions()).toBe(0)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })
})
