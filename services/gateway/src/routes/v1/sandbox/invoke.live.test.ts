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

  test.for([-1, 1.5, 2 ** 53, '5'])('rejects a maxMicro of %j [invalid_request]', async (maxMicro, { flows }) => {
    const sandbox = await flows.save(echo)
    const answer = await flows.invoke(sandbox, { text: 'Hello' }, { fields: { maxMicro } })
    expect(answer.status).toBe(400)
    expect(await errorOf(answer)).toMatchObject({ code: 'invalid_request', param: 'maxMicro' })
    expect(await flows.executions()).toBe(0)
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
  // spec: 4.3/s1
  test('if its headers or body are invalid [idempotency_key_required, idempotency_key_invalid, invalid_json, invalid_request, request_too_large, method_not_allowed]', async ({
    tenant,
    flows,
  }) => {
    const sandbox = await flows.save(echo)
    const path = `/v1/sandbox/${sandbox}/invoke`
    const send = (headers: Record<string, string>, body: string) =>
      fetch(tenant.url + path, { method: 'POST', headers: { ...tenant.headers, ...headers }, body })
    const keyed = { 'idempotency-key': newKey() }
    const huge = JSON.stringify({ input: { text: 'x'.repeat(2 * 1024 * 1024) } })
    const refusals = await Promise.all([
      send({}, '{'),
      send({ 'idempotency-key': 'short' }, '{'),
      send(keyed, '{'),
      send(keyed, '{"input":3}'),
      send(keyed, '{"input":{},"more":1}'),
      send(keyed, huge),
      flows.get(path),
    ])
    expect(await Promise.all(refusals.map(async (answer) => [answer.status, (await errorOf(answer))['code']]))).toEqual(
      [
        [400, 'idempotency_key_required'],
        [400, 'idempotency_key_invalid'],
        [400, 'invalid_json'],
        [400, 'invalid_request'],
        [400, 'invalid_request'],
        [413, 'request_too_large'],
        [405, 'method_not_allowed'],
      ],
    )
    expect(await flows.executions()).toBe(0)
  })

  // spec: 2.3/s1, 4.3/s4, 4.3/s5, 5/s11, 7/r14
  test('if the flow is unknown or in another project, with identical bytes [sandbox_not_found]', async ({
    tenant,
    flows,
    fixture,
  }) => {
    const neighbours = await fixture.project(tenant.owners)
    const theirs = (await fixture.sandbox(neighbours, echo)).id
    const answers = [theirs, `sbx-${'0'.repeat(26)}`, 'nothing', 'x'.repeat(300), '%00'].map(async (id) => {
      const answer = await flows.invoke(id, { text: 'a' })
      expect(answer.headers.get('x-service-invocation')).toBeNull()
      const echoed = decodeURIComponent(id).replace('\0', '\uFFFD').slice(0, 256)
      return [answer.status, (await answer.text()).replaceAll(echoed, '<id>')]
    })
    const [first, ...others] = await Promise.all(answers)
    expect(first).toMatchObject([404, expect.stringContaining('sandbox_not_found') as string])
    for (const other of others) expect(other).toEqual(first)
  })

  // spec: 4.3/s1, 4.3/s6, 4.5/s1
  test('if it names another project in either header or the body [project_mismatch]', async ({ flows }) => {
    const sandbox = await flows.save(echo)
    const other = 'prj_other'
    for (const more of [
      { headers: { 'x-service-project': other } },
      { headers: { 'x-project-id': other } },
      { fields: { project_id: other } },
    ]) {
      const answer = await flows.invoke(sandbox, { text: 'a' }, more)
      expect(answer.status).toBe(403)
      expect(await errorOf(answer)).toMatchObject({ code: 'project_mismatch' })
    }
    expect(await flows.executions()).toBe(0)
  })

  // spec: 7/r6
  test('if a listed key lacks the flow or a product that the flow calls [key_scope]', async ({ tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    for (const resources of [[tenant.model], [sandbox]]) {
      const { secret } = await tenant.key({ policy: 'listed', resources })
      const answer = await flows.invoke(sandbox, { text: 'a' }, { headers: { authorization: `Bearer ${secret}` } })
      expect(answer.status).toBe(403)
      expect(await errorOf(answer)).toMatchObject({ code: 'key_scope', param: null })
    }
    const { secret } = await tenant.key({ policy: 'listed', resources: [tenant.model, sandbox] })
    const headers = { authorization: `Bearer ${secret}` }
    expect((await flows.invoke(sandbox, { text: newPrompt() }, { headers })).status).toBe(200)
  })

  // spec: 3.1/r6, 3.1/s1, 4.3/s8, 4.3/s9, 7/r13, 9/s4
  test('if the revision is not active, the flow is suspended, or the flow was never activated [revision_not_active]', async ({
    flows,
    fixture,
  }) => {
    const sandbox = await flows.save(echo)
    await fixture.revision(sandbox, echo, { activate: false })
    const asleep = await flows.save(echo, { suspended: true })
    const draft = await flows.save(echo, { activate: false })
    for (const [id, revision] of [
      [sandbox, 2],
      [sandbox, 3],
      [sandbox, 9_007_199_254_740_991],
      [asleep, null],
      [asleep, 1],
      [draft, null],
      [draft, 1],
    ] as const) {
      const answer = await flows.invoke(id, { text: 'a' }, { fields: { revision } })
      expect([id, revision, answer.status]).toEqual([id, revision, 409])
      expect(await errorOf(answer)).toMatchObject({ code: 'revision_not_active' })
    }
    expect(await flows.executions()).toBe(0)
  })

  // spec: 1/s10, 2.3/s9, 4.3/s11, 7/r11, 7/s4
  test('if an input has the wrong type or an unknown choice [input_type]', async ({ tenant, flows }) => {
    const sandbox = await flows.save(ask(tenant.model))
    for (const [input, ...fields] of [
      [{ topic: 5 }, 'topic'],
      [{ tone: 'dry' }, 'topic'],
      [{ topic: 'a', tone: 'loud' }, 'tone'],
      [{ topic: 'a', tone: ['dry'] }, 'tone'],
      [{ topic: 'a', length: '5' }, 'length'],
      [{ topic: {}, length: true }, 'topic', 'length'],
      [{ topic: 'a', other: 1 }, 'other'],
    ] as [object, ...string[]][]) {
      const answer = await flows.invoke(sandbox, input)
      expect(answer.status).toBe(422)
      const error = await errorOf(answer)
      expect(error).toMatchObject({ code: 'input_type', param: 'input' })
      const named = (error['details'] as { fields: { field: string }[] }).fields.map(({ field }) => field)
      expect(named.toSorted()).toEqual(fields.toSorted())
    }
    expect(await flows.executions()).toBe(0)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  // spec: 5/s13
  test('if the project has no funds, even for a free flow, or the key limit is spent [insufficient_budget, key_limit]', async ({
    tenant,
    flows,
    fixture,
  }) => {
    const poor = await fixture.project(tenant.owners)
    await fixture.assign(poor.id, tenant.model)
    const [paid, free] = [await fixture.sandbox(poor, chain(tenant.model)), await fixture.sandbox(poor, echo)]
    const headers = {
      authorization: `Bearer ${(await fixture.key({ project: poor, by: tenant.owners.owner })).secret}`,
    }
    for (const { id } of [paid, free]) {
      const refused = await flows.invoke(id, { text: 'a' }, { headers })
      expect(refused.status).toBe(402)
      expect(await errorOf(refused)).toMatchObject({ code: 'insufficient_budget', details: { availableMicro: 0 } })
    }
    await fixture.fund(poor.id, 1n)
    expect((await flows.invoke(free.id, { text: 'a' }, { headers })).status).toBe(200)

    const sandbox = await flows.save(chain(tenant.model))
    const { secret } = await tenant.key({ limit: { micro: 1n, reset: 'daily' } })
    await fixture.run(
      `INSERT INTO money.meters (lineage, project, window_start, limit_micro, spent)
       SELECT lineage, project, money.window_start('daily', now()), 1, 1 FROM control.keys WHERE hash = sha256(convert_to($1, 'UTF8'))`,
      [secret],
    )
    const spent = await flows.invoke(sandbox, { text: 'a' }, { headers: { authorization: `Bearer ${secret}` } })
    expect(spent.status).toBe(403)
    expect(await errorOf(spent)).toMatchObject({ code: 'key_limit' })
  })

  // spec: 4.3/s1
  test('if the key is missing, invalid, unbound or revoked [key_missing, key_invalid, key_unbound, key_revoked]', async ({
    tenant,
    flows,
    fixture,
  }) => {
    const sandbox = await flows.save(echo)
    const unbound = await fixture.key({ project: null, tenant: tenant.owners.tenant, by: tenant.owners.owner })
    const revoked = await tenant.key({ revoked: true })
    for (const [authorization, status, code] of [
      ['Basic x', 401, 'key_missing'],
      ['Bearer svc_x', 401, 'key_invalid'],
      [`Bearer ${unbound.secret}`, 403, 'key_unbound'],
      [`Bearer ${revoked.secret}`, 401, 'key_revoked'],
    ] as const) {
      const answer = await flows.invoke(sandbox, { text: 'a' }, { headers: { authorization } })
      expect([answer.status, (await errorOf(answer))['code']]).toEqual([status, code])
    }
  })
})

describe('GET /v1/executions/{id}', () => {
  test('returns 404 to another project, and 403 to a listed key without the flow [execution_not_found, key_scope]', async ({
    tenant,
    flows,
    fixture,
  }) => {
    const sandbox = await flows.save(echo)
    const { id } = await recordOf(await flows.invoke(sandbox, { text: 'a' }))
    const neighbours = await fixture.project(tenant.owners)
    const other = {
      authorization: `Bearer ${(await fixture.key({ project: neighbours, by: tenant.owners.owner })).secret}`,
    }
    const [theirs, nothing] = await Promise.all(
      [id, `exe_${'0'.repeat(26)}`].map(async (asked) => {
        const answer = await flows.get(`/v1/executions/${asked}`, other)
        return [answer.status, (await answer.text()).replaceAll(asked, '<id>')]
      }),
    )
    expect(theirs).toMatchObject([404, expect.stringContaining('execution_not_found') as string])
    expect(nothing).toEqual(theirs)
    const listed = await tenant.key({ policy: 'listed', resources: [tenant.model] })
    const answer = await flows.get(`/v1/executions/${id}`, { authorization: `Bearer ${listed.secret}` })
    expect(await errorOf(answer)).toMatchObject({ code: 'key_scope' })
  })
})
