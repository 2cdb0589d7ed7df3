import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { flows } from './src/mcp/flows.ts'
import { callOf, list, say } from './src/mcp/say.ts'
import { openMcpTenant, type McpTenant } from './src/mcp/mcp-tenant.ts'
import { startOtlpReceiver } from './src/otlp-receiver.ts'
import { openLiveStack } from './src/stack.ts'

// The HTTP layer around MCP: access checks and their order, and the headers of a response.

const test = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('collector', { scope: 'file' }, async ({}, { onCleanup }) => {
    const collector = await startOtlpReceiver()
    onCleanup(collector.stop)
    return collector
  })
  .extend('stack', { scope: 'file' }, async ({ database, redis, collector }, { onCleanup }) => {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const stack = await openLiveStack({
      adminUrl: database.adminUrl,
      ledgerUrl: database.ledgerUrl,
      redisUrl: redis.url,
      gateways: 3,
      workers: 1,
      environment: { gateway: (n) => ({ DRAIN_MS: '2000', ...(n === 0 && traced) }) },
      processes: ['gateway-0'], // the SDK of traces is a singleton per process
    })
    onCleanup(stack.close)
    return stack
  })
  .extend('tenant', { scope: 'file' }, ({ stack }) => openMcpTenant(stack))

const key = () => ({ 'idempotency-key': randomUUID() })
const codeOf = ({ text }: { text: string }) => (JSON.parse(text) as { error: { code: string } }).error.code

// spec: 4.4/s3, 5/s12, 7/r15
test('GET and DELETE are refused after the checks of the key and the project, regardless of the MCP flag [method_not_allowed]', async ({
  tenant,
}) => {
  const { echo, disabled } = tenant.sandboxes
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
    const refused = await say(tenant, echo, null, { method })
    expect([refused.status, refused.headers.get('allow'), codeOf(refused)]).toEqual([405, 'POST', 'method_not_allowed'])
    expect(codeOf(await say(tenant, disabled, null, { method }))).toBe('method_not_allowed')
    expect(codeOf(await say(tenant, 'sbx-none', null, { method }))).toBe('sandbox_not_found')
    const anonymous = await say(tenant, echo, null, { method, headers: { authorization: 'Bearer none' } })
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  }
})

// spec: 4.4/s3
test('a flow without an active revision is refused by method, then flag, then revision [mcp_disabled] [method_not_allowed] [revision_not_active]', async ({
  tenant,
}) => {
  const [off, on] = [
    await tenant.make(flows.echo(), { activate: false, mcpEnabled: false }),
    await tenant.make(flows.echo(), { activate: false }),
  ]
  expect(codeOf(await say(tenant, off, list))).toBe('mcp_disabled')
  for (const sandbox of [off, on])
    for (const method of ['GET', 'DELETE']) {
      const refused = await say(tenant, sandbox, null, { method })
      expect([refused.status, refused.headers.get('allow'), codeOf(refused)]).toEqual([
        405,
        'POST',
        'method_not_allowed',
      ])
    }
  for (const message of [list, callOf({ topic: 'a' })])
    expect(codeOf(await say(tenant, on, message, { headers: key() }))).toBe('revision_not_active')
})

test('a flow with an unassigned product lists no tools and starts nothing, but replays earlier executions [product_not_assigned]', async ({
  stack,
  tenant,
}) => {
  const model = await stack.fixture.publishProduct()
  await stack.fixture.assign(tenant.project.id, model)
  const sandbox = await tenant.make(flows.chain(model))
  const before = { headers: key() }
  const first = await say(tenant, sandbox, callOf({ prompt: 'a' }), before)
  await stack.fixture.run('DELETE FROM control.assignments WHERE product = $1', [model])
  const charged = await tenant.settled()
  const refused = await say(tenant, sandbox, list)
  expect([refused.status, codeOf(refused)]).toEqual([403, 'product_not_assigned'])
  const { messages } = await say(tenant, sandbox, callOf({ prompt: 'a' }), { headers: key() })
  expect(messages[0]!.result.isError).toBe(true)
  expect(messages[0]!.result.content[0].text).toContain('product_not_assigned')
  expect((await say(tenant, sandbox, callOf({ prompt: 'a' }), before)).messages).toEqual(first.messages)
  expect([await tenant.executions(sandbox), await tenant.settled()]).toEqual([1, charged])
})

test('a key that lacks a product of the active revision lists no tools and starts nothing, but replays earlier executions [key_scope]', async ({
  stack: { fixture },
  tenant,
}) => {
  const sandbox = await tenant.make(flows.echo())
  const { secret } = await fixture.key({
    project: tenant.project,
    by: tenant.owner,
    policy: 'listed',
    resources: [sandbox],
  })
  const authorization = `Bearer ${secret}`
  const [before, fresh] = [
    { authorization, ...key() },
    { authorization, ...key() },
  ]
  const call = callOf({ topic: 'a' })
  const first = await say(tenant, sandbox, call, { headers: before })
  await fixture.revision(sandbox, flows.chain(tenant.model))
  expect(codeOf(await say(tenant, sandbox, list, { headers: { authorization } }))).toBe('key_scope')
  expect(codeOf(await say(tenant, sandbox, null, { method: 'GET', headers: { authorization } }))).toBe(
    'method_not_allowed',
  )
  expect((await say(tenant, sandbox, call, { headers: fresh })).messages[0]!.result.content[0].text).toContain(
    'key_scope',
  )
  expect((await say(tenant, sandbox, call, { headers: before })).messages).toEqual(first.messages)
  expect(await tenant.executions(sandbox)).toBe(1)
})

test('another project gets the same response as for a missing flow [sandbox_not_found]', async ({ tenant }) => {
  const headers = { authorization: `Bearer ${tenant.otherTenant.key.secret}` }
  const [theirs, none] = [
    await say(tenant, tenant.sandboxes.echo, list, { headers }),
    await say(tenant, 'sbx-00000000000000000000000000', list, { headers }),
  ]
  expect([theirs.status, none.status]).toEqual([404, 404])
  expect(theirs.text.replaceAll(tenant.sandboxes.echo, '')).toBe(
    none.text.replaceAll('sbx-00000000000000000000000000', ''),
  )
})

// spec: 4.4/s4, 4.5/r1
test('a selector naming another project is refused [project_mismatch], and so is a duplicate header [duplicate_header]', async ({
  tenant,
}) => {
  const { echo } = tenant.sandboxes
  const other = await say(tenant, echo, list, { headers: { 'x-service-project': tenant.otherTenant.project.id } })
  expect([other.status, codeOf(other)]).toEqual([403, 'project_mismatch'])
  expect((await say(tenant, echo, list, { headers: { 'x-project-id': tenant.project.id } })).status).toBe(200)

  const twice = request(tenant.at(echo), { method: 'POST' })
  twice.setHeader('Authorization', tenant.authorization)
  twice.setHeader('Idempotency-Key', ['first-key', 'second-key'])
  twice.end(JSON.stringify(callOf({ topic: 'a' })))
  const [answer] = (await once(twice, 'response')) as [NodeJS.ReadableStream]
  expect(codeOf({ text: await text(answer) })).toBe('duplicate_header')
})

test('a request from a foreign origin is refused [not_permitted]', async ({ tenant }) => {
  const strange = await say(tenant, tenant.sandboxes.echo, list, { headers: { origin: 'https://evil.example.com' } })
  expect([strange.status, codeOf(strange)]).toEqual([403, 'not_permitted'])
  const own = await say(tenant, tenant.sandboxes.echo, list, { headers: { origin: 'http://localhost:6274' } })
  expect(own.status).toBe(200)
})

// spec: 4.4/s4
test('no well-known path starts an OAuth flow', async ({ tenant }) => {
  const { origin, pathname } = tenant.at(tenant.sandboxes.echo)
  for (const path of [
    '/.well-known/oauth-protected-resource',
    `/.well-known/oauth-protected-resource${pathname}`,
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    `${pathname}/.well-known/oauth-protected-resource`,
  ])
    expect((await fetch(`${origin}${path}`)).status).toBe(404)
})

test('invalid JSON is refused as on other paths, and an invalid message as a bad request [invalid_json]', async ({
  tenant,
}) => {
  const { echo } = tenant.sandboxes
  const unreadable = await say(tenant, echo, '{"jsonrpc":')
  expect([unreadable.status, codeOf(unreadable)]).toEqual([400, 'invalid_json'])
  const deep = await say(tenant, echo, `${'['.repeat(200)}${']'.repeat(200)}`)
  expect([deep.status, codeOf(deep)]).toEqual([400, 'invalid_json'])
  const other = await say(tenant, echo, { hello: 'there' })
  expect(other.status).toBe(400)
  const plain = await say(tenant, echo, list, { headers: { 'content-type': 'text/plain' } })
  expect(plain.status).toBe(415)
  const large = await say(tenant, echo, callOf({ topic: 'x'.repeat(3_000_000) }), { headers: key() })
  expect([large.status, codeOf(large)]).toEqual([413, 'request_too_large'])
})

// spec: 4.4/s5
test('a call of an unknown tool returns a JSON-RPC error and runs nothing', async ({ tenant }) => {
  const params = { name: 'invoke', arguments: { topic: 'a' } }
  const { messages, headers } = await say(
    tenant,
    tenant.sandboxes.echo,
    { jsonrpc: '2.0', id: 7, method: 'tools/call', params },
    { headers: key() },
  )
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32_602, message: 'Unknown tool: invoke' } }])
  expect(headers.get('x-service-invocation')).toBeNull()
})

test('response headers name the execution and mark a replay', async ({ tenant }) => {
  const headers = key()
  const first = await say(tenant, tenant.sandboxes.echo, callOf({ topic: 'a' }), { headers })
  const second = await say(tenant, tenant.sandboxes.echo, callOf({ topic: 'a' }), { headers, gateway: 1 })
  const { execution_id: execution, charged_micro: charged } = first.messages[0]!.result._meta.service
  expect(charged).toBe(0)
  for (const { headers } of [first, second]) {
    expect(headers.get('x-service-invocation')).toBe(execution)
    expect(headers.get('x-request-id')).toMatch(/^req_/)
  }
  expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([null, 'true'])
  expect(second.messages).toEqual(first.messages)
})

test('a message with several requests is refused and runs nothing', async ({ tenant }) => {
  const sandbox = await tenant.chain()
  const batch = [list, callOf({ prompt: 'a' }, undefined, 2)]
  const { status, text } = await say(tenant, sandbox, batch, { headers: key() })
  expect([status, JSON.parse(text)]).toEqual([
    400,
    {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32_600,
        message: expect.stringContaining('Send each request as its own message') as string,
        data: { resolution: expect.any(String) as string },
      },
    },
  ])
  expect(await tenant.executions(sandbox)).toBe(0)
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const one = await say(tenant, sandbox, [initialized, callOf({ prompt: 'a' }, undefined, 2)], { headers: key() })
  expect(one.messages.map(({ id }) => id)).toEqual([2])
  expect(await tenant.executions(sandbox)).toBe(1)
})

test('a call by the alias of an input and one by its name are the same execution under one key, also under a revision without that input', async ({
  stack,
  tenant,
}) => {
  const name = 'Titel des Textes'
  const sandbox = await tenant.make({
    input: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
    output: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'out', kind: 'output' },
    ],
    edges: [{ from: `in.${name}`, to: 'out.text' }],
  })
  const { messages } = await say(tenant, sandbox, list)
  const [alias] = messages[0]!.result.tools[0].inputSchema.required as [string]
  expect(alias).toMatch(/^Titel_des_Textes_\w+$/)
  const headers = key()
  const results = [alias, name].map(async (input) => say(tenant, sandbox, callOf({ [input]: 'Rain' }), { headers }))
  for (const { messages } of await Promise.all(results))
    expect(messages[0]!.result.structuredContent).toEqual({ text: 'Rain' })
  await stack.fixture.revision(sandbox, flows.echo())
  const repeats = [alias, name].map(async (input) => say(tenant, sandbox, callOf({ [input]: 'Rain' }), { headers }))
  for (const { headers: sent, messages } of await Promise.all(repeats)) {
    expect(messages[0]!.result.structuredContent).toEqual({ text: 'Rain' })
    expect(sent.get('idempotent-replayed')).toBe('true')
  }
  const invoked = await tenant.invoke(sandbox, { [name]: 'Rain' }, headers['idempotency-key'])
  expect(invoked.output).toEqual({ text: 'Rain' })
  expect(await tenant.executions(sandbox)).toBe(1)
})

test('an execution joins the trace of the message, or else the trace of the HTTP request', async ({
  stack,
  tenant,
}) => {
  const [ofMessage, ofRequest] = ['4bf92f3577b34da6a3ce929d0e0e4736', '0af7651916cd43dd8448eb211c80319c']
  const traceparent = (id: string) => `00-${id}-00f067aa0ba902b7-01`
  const headers = () => ({ ...key(), traceparent: traceparent(ofRequest) })
  const { echo } = tenant.sandboxes
  for (const [meta, trace] of [
    [{ traceparent: traceparent(ofMessage) }, ofMessage],
    [undefined, ofRequest],
  ] as const) {
    const { messages } = await say(tenant, echo, callOf({ topic: 'a' }, meta), { headers: headers() })
    const { rows } = await stack.fixture.run('SELECT traceparent FROM money.executions WHERE id = $1', [
      messages[0]!.result._meta.service.execution_id,
    ])
    expect((rows as { traceparent: string }[])[0]!.traceparent).toContain(trace)
  }
})

// spec: 4.4/s7
test('an image of any size is native content, and can be read as an asset', async ({ tenant }) => {
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(24_999_000, 7)])
  const asset = await upload(tenant, png)
  const { messages } = await say(tenant, tenant.sandboxes.mirror, callOf({ photo: { asset } }), { headers: key() })
  const { content, structuredContent } = messages[0]!.result
  expect(structuredContent).toEqual({ photo: { asset, mimeType: 'image/png', bytes: png.length } })
  expect(content).toHaveLength(2)
  expect(content[1]).toMatchObject({ type: 'image', mimeType: 'image/png' })
  expect(Buffer.from((content[1] as unknown as { data: string }).data, 'base64').equals(png)).toBe(true)
  const read = await fetch(new URL(`/v1/assets/${asset}`, tenant.at('')), {
    headers: { authorization: tenant.authorization },
  })
  expect(Buffer.from(await read.arrayBuffer()).equals(png)).toBe(true)
})

// spec: 7/s3
test('arguments that are not an object are a refusal that the model can read [invalid_request]', async ({ tenant }) => {
  for (const given of ['text', 7, [], null]) {
    const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'invoke_product', arguments: given } }
    const { text } = await say(tenant, tenant.sandboxes.echo, call, { headers: key() })
    const { id, result } = JSON.parse(text) as { id: number; result: { isError: boolean; content: { text: string }[] } }
    expect([id, result.isError]).toEqual([5, true])
    expect(JSON.parse(result.content[0]!.text)).toMatchObject({
      error: { code: 'invalid_request', param: 'arguments', resolution: expect.stringMatching(/object/) as string },
    })
  }
})

test('a tool call without an ID gets no response, even if its arguments are not an object', async ({ tenant }) => {
  const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'invoke_product', arguments: 'text' } }
  const { status, text } = await say(tenant, tenant.sandboxes.echo, call, { headers: key() })
  expect([status, text]).toEqual([202, ''])
})

// spec: 7/s3
test('an Accept header without both content types is refused with what to send', async ({ tenant }) => {
  const { status, text } = await say(tenant, tenant.sandboxes.echo, list, { headers: { accept: 'text/html' } })
  expect(status).toBe(406)
  expect(JSON.parse(text)).toMatchObject({
    error: {
      message: expect.stringContaining('Accept: application/json, text/event-stream') as string,
      data: { resolution: expect.any(String) as string },
    },
  })
})

// spec: 4.4/s5
test('a repeat returns the result of its execution even after another revision was activated', async ({
  stack,
  tenant,
}) => {
  const { fixture } = stack
  const sandbox = await tenant.make(flows.picture(tenant.canvas))
  const headers = key()
  const drawn = await say(tenant, sandbox, callOf({ prompt: 'Rain' }), { headers })
  expect(drawn.messages[0]!.result.content[1].type).toBe('image')
  await fixture.revision(sandbox, flows.echo())
  const tools = await say(tenant, sandbox, list)
  expect(tools.messages[0]!.result.tools[0].inputSchema.required).toEqual(['topic'])
  expect((await say(tenant, sandbox, callOf({ prompt: 'Rain' }), { headers, gateway: 1 })).messages).toEqual(
    drawn.messages,
  )
})

// spec: 4.4/s7
test('an object that only resembles an asset is not rendered as an image', async ({ stack, tenant }) => {
  const { fixture } = stack
  const theirs = await fixture.sandbox(tenant.project, flows.wrapped(), { mcpEnabled: true })
  const more = { asset: 'ast_none', mimeType: 'image/png', bytes: 3 }
  const { messages } = await say(tenant, theirs.id, callOf({ more }), { headers: key() })
  expect(messages[0]!.result).toMatchObject({ structuredContent: { more }, content: [{ type: 'text' }] })
})

test('a failed execution reports its error and charge, the same on each repeat [provider_failed]', async ({
  stack,
  tenant,
}) => {
  const sandbox = await tenant.chain()
  const [prompt, headers] = [randomUUID(), key()]
  await stack.provider.control.setFaults([{ prompt, status: 500, times: 1 }])
  const first = await say(tenant, sandbox, callOf({ prompt }), { headers })
  const { isError, content } = first.messages[0]!.result
  expect(isError).toBe(true)
  expect(JSON.parse(content[0].text)).toMatchObject({
    error: { code: 'provider_failed', message: expect.any(String) as string, resolution: expect.any(String) as string },
    execution: expect.stringMatching(/^exe_/) as string,
    chargedMicro: 0,
  })
  expect((await say(tenant, sandbox, callOf({ prompt }), { headers, gateway: 2 })).messages).toEqual(first.messages)
})

// spec: 4.4/s4
test('a refusal that the caller can clear is a tool result, not a protocol error [insufficient_budget] [key_limit]', async ({
  stack,
  tenant,
}) => {
  const { fixture } = stack
  const sandbox = await tenant.chain()
  const used = await fixture.key({ project: tenant.project, by: tenant.owner, limit: { micro: 1n, reset: 'lifetime' } })
  const limited = await say(tenant, sandbox, callOf({ prompt: 'a' }), {
    headers: { ...key(), authorization: `Bearer ${used.secret}` },
  })
  expect(limited.status).toBe(200)
  expect(limited.messages[0]!.result.isError).toBe(true)
  expect(limited.messages[0]!.result.content[0].text).toMatch(/key_limit/)

  const poor = await stack.tenant(0n)
  const theirs = await fixture.sandbox(poor.project, flows.chain(poor.model), { mcpEnabled: true })
  const unfunded = await say(tenant, theirs.id, callOf({ prompt: 'a' }), {
    headers: { ...key(), authorization: `Bearer ${poor.key.secret}` },
  })
  expect(unfunded.messages[0]!.result.content[0].text).toMatch(/insufficient_budget/)
})

test('a subscription ends right after its acknowledgement, because no notifications are offered', async ({
  tenant,
}) => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const listening = await fetch(tenant.at(tenant.sandboxes.echo, 2), {
    method: 'POST',
    headers: {
      authorization: tenant.authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 'listen:1',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: meta },
    }),
  })
  expect(listening.status).toBe(200)
  expect(await listening.text()).toContain('acknowledged')
})

test('a stopping gateway tells waiting callers that their execution continues [idempotency_in_progress]', async ({
  stack,
  tenant,
}) => {
  const sandbox = await tenant.chain()
  const [prompt, headers] = [randomUUID(), key()]
  await stack.provider.control.setFaults([{ prompt, hold: true, times: 1 }])
  const waiting = [undefined, { progressToken: 'p' }].map((meta) =>
    say(tenant, sandbox, callOf({ prompt }, meta), { headers, gateway: 2 }),
  )
  await stack.provider.control.waitForCalls(1, { prompt })
  await stack.gateways[2]!.stop()
  for (const { messages } of await Promise.all(waiting))
    expect(messages.at(-1)!.result.content[0].text).toContain('idempotency_in_progress')
  await stack.provider.control.release()
  const repeated = await say(tenant, sandbox, callOf({ prompt }), { headers, gateway: 0 })
  expect(repeated.messages[0]!.result.structuredContent.text).toMatch(/\w/)
  expect(await tenant.executions(sandbox)).toBe(1)
  await stack.gateways[2]!.start()
})

async function upload(tenant: McpTenant, png: Buffer): Promise<string> {
  const stored = await fetch(new URL('/v1/assets', tenant.at('')), {
    method: 'POST',
    headers: { authorization: tenant.authorization, 'content-type': 'image/png' },
    body: new Uint8Array(png),
  })
  expect(stored.status).toBe(201)
  return ((await stored.json()) as { asset: string }).asset
}

test('a suspended flow lists no tools and starts nothing, but replays earlier executions [revision_not_active]', async ({
  tenant,
}) => {
  const id = await tenant.make(flows.echo())
  const [before, fresh] = [{ headers: key() }, { headers: key() }]
  const call = callOf({ topic: 'kept' })
  const first = await say(tenant, id, call, before)
  await tenant.suspend(id)
  expect(codeOf(await say(tenant, id, list))).toBe('revision_not_active')
  const again = await say(tenant, id, call, before)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(again.headers.get('x-service-invocation')).toBe(first.headers.get('x-service-invocation'))
  expect((await say(tenant, id, call, fresh)).text).toContain('revision_not_active')
})
