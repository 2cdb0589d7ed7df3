import { describe, expect } from 'vitest'
import { chain, flowTest, linesOf, newKey, openLines, PROGRESS, recordOf } from '../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../stack.fixture.ts'

const test = flowTest
  /** An execution whose call is held until the test releases it. */
  .extend('held', async ({ stack, tenant, flows }) => {
    const { control } = stack.provider
    const prompt = newPrompt()
    const sandbox = await flows.save(chain(tenant.model), { mcpEnabled: true })
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const record = flows.invoke(sandbox, { text: prompt }, { headers: { 'idempotency-key': newKey() } }).then(recordOf)
    await control.waitForCalls(1, { prompt })
    return { sandbox, record, release: () => control.release() }
  })
  /** ID of the running execution. */
  .extend('execution', async ({ held, fixture }) => {
    const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [held.sandbox])
    return (rows as [{ id: string }])[0].id
  })

describe('GET /v1/executions/{id}/progress', () => {
  test('streams a running execution to any key of its project, starting after the requested line', async ({
    tenant,
    flows,
    held,
    execution,
  }) => {
    const { secret } = await tenant.key() // not the key that started it
    const follow = (query = '') =>
      flows.get(`/v1/executions/${execution}/progress${query}`, { authorization: `Bearer ${secret}` })
    const [all, rest, last] = [await follow(), await follow('?after=0'), await follow('?after=1')]
    expect(all.headers.get('content-type')).toBe('application/x-ndjson')
    expect(all.headers.get('x-service-invocation')).toBe(execution)
    const reader = await openLines(all)
    expect((await reader.take(2)).map(({ kind }) => kind)).toEqual(['admitted', 'node'])
    await held.release()
    await reader.end()
    expect(reader.lines.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4])
    expect(reader.lines.at(-1)).toEqual({ kind: 'complete', seq: 4, execution: await held.record })
    expect(linesOf(await rest.text())).toEqual(reader.lines.slice(1))
    expect(linesOf(await last.text())).toEqual(reader.lines.slice(2))
    expect(linesOf(await (await follow('?after=3')).text())).toEqual(reader.lines.slice(4))
    expect(await (await follow('?after=4')).text()).toBe('')
  })

  test('ends with a refusal once the reading key is revoked [key_revoked]', async ({
    tenant,
    flows,
    fixture,
    held,
    execution,
  }) => {
    const { id, secret } = await tenant.key()
    const answer = await flows.get(`/v1/executions/${execution}/progress`, { authorization: `Bearer ${secret}` })
    const reader = await openLines(answer)
    await reader.take(2)
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [id])
    // The console notifies gateways of a revocation. Without it the reader is authorized again after a second.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await held.release()
    await reader.end()
    expect(reader.lines.at(-1)).toMatchObject({ kind: 'refused', error: { code: 'key_revoked' } })
    expect((await held.record).status).toBe('Succeeded')
  })

  test('returns 404 to another project, and 403 to a listed key without the flow [execution_not_found] [key_scope]', async ({
    tenant,
    flows,
    fixture,
    held,
    execution,
  }) => {
    const neighbours = await fixture.project(tenant.owners)
    const { secret } = await fixture.key({ project: neighbours, by: tenant.owners.owner })
    const [theirs, nothing] = await Promise.all(
      [execution, `exe_${'0'.repeat(26)}`].map(async (asked) => {
        const answer = await flows.get(`/v1/executions/${asked}/progress`, { authorization: `Bearer ${secret}` })
        return [answer.status, (await answer.text()).replaceAll(asked, '<id>')]
      }),
    )
    expect(theirs).toMatchObject([404, expect.stringContaining('execution_not_found') as string])
    expect(nothing).toEqual(theirs)
    const listed = await tenant.key({ policy: 'listed', resources: [tenant.model] })
    const headers = { authorization: `Bearer ${listed.secret}` }
    const refused = await flows.get(`/v1/executions/${execution}/progress`, headers)
    expect([refused.status, (await errorOf(refused))['code']]).toEqual([403, 'key_scope'])
    await held.release()
    await held.record
  })

  test('refuses a key beyond its followers, and neither another key nor a read [overloaded]', async ({
    tenant,
    flows,
    held,
    execution,
  }) => {
    const { secret } = await tenant.key()
    const clients = new AbortController()
    const ask = (path: string, key: string, signal: AbortSignal | null = null) =>
      fetch(`${tenant.url}/v1/executions/${execution}${path}`, { headers: { authorization: `Bearer ${key}` }, signal })
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => ask('/progress', tenant.secret, clients.signal)),
    )
    const refused = answers.filter(({ status }) => status === 503)
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([16, 84])
    expect(await errorOf(refused[0]!)).toMatchObject({
      code: 'overloaded',
      resolution: expect.stringContaining('close the request that follows it') as string,
    })
    expect((await ask('', tenant.secret)).status).toBe(200)
    const invocation = await flows.invoke(held.sandbox, { text: newPrompt() }, { headers: PROGRESS })
    const params = { name: 'invoke_product', arguments: { text: 'Hello' }, _meta: { progressToken: 'p' } }
    const tool = await fetch(`${tenant.url}/v1/sandbox/${held.sandbox}/mcp`, {
      method: 'POST',
      headers: { ...tenant.headers, accept: 'application/json, text/event-stream', 'idempotency-key': newKey() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    expect(await tool.text()).toMatch(/overloaded.*"isError":true/)
    expect([invocation.status, await flows.executions()]).toEqual([503, 1])
    const other = await openLines(await ask('/progress', secret))
    clients.abort()
    await expect.poll(async () => (await ask('/progress?after=9', tenant.secret)).status).toBe(200)
    await held.release()
    await other.end()
    expect(other.lines.at(-1)).toMatchObject({ kind: 'complete' })
    await held.record
  })
})

test.for(['after=x', 'after=-2', 'after=1.5', 'after=1&after=2', 'before=1'])(
  'rejects the query %s and names its field [invalid_request]',
  async (query, { flows }) => {
    const answer = await flows.get(`/v1/executions/exe_none/progress?${query}`)
    const { code, param } = await errorOf(answer)
    expect([answer.status, code, param]).toEqual([400, 'invalid_request', query.split('=')[0]])
  },
)
