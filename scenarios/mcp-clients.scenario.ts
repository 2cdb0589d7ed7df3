import { randomUUID } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import type { McpClient, Endpoint, ToolResult } from './src/mcp/clients/mcp-client.ts'
import { inspector, inspectorOverBridge } from './src/mcp/clients/inspector.ts'
import { sdkOne, sdkOneOverBridge } from './src/mcp/clients/sdk-one.ts'
import { sdkTwo, sdkTwoOverBridge } from './src/mcp/clients/sdk-two.ts'
import type { McpTenant } from './src/mcp/mcp-tenant.ts'
import { mcpTest as test } from './src/mcp/mcp-test.ts'

// Unmodified third-party clients, over HTTP and through the bridge.

const modern = { pin: '2026-07-28' }
const overHttp: McpClient[] = [sdkTwo(modern), sdkTwo('legacy'), sdkOne, inspector('modern'), inspector('legacy')]
const overBridge: McpClient[] = [
  sdkTwoOverBridge(modern),
  sdkTwoOverBridge('legacy'),
  sdkOneOverBridge,
  inspectorOverBridge,
]

const endpointOf = (
  tenant: McpTenant,
  sandbox: string,
  key: string | null = tenant.key.secret,
  gateway = 0,
): Endpoint => ({
  url: tenant.at(sandbox, gateway),
  key,
})
const newKey = () => ({ idempotencyKey: randomUUID() })

/** A refusal as clients show it: the code, the status, or a failed negotiation. */
const REFUSED = /sandbox_not_found|mcp_disabled|key_invalid|40[134]|auth_required|negotiation failed/i

/** The refusal in a tool result. */
function refusalIn({ isError, content }: ToolResult): { code: string; message: string; resolution: string } {
  expect(isError).toBe(true)
  return (JSON.parse(content[0]!.text!) as { error: { code: string; message: string; resolution: string } }).error
}

/** Code and message of the error that a refused client throws. */
async function refusalOf(doing: Promise<unknown>): Promise<string> {
  return doing.then(
    () => 'it was not refused',
    (error: Error & { code?: unknown }) => `${String(error.code)} ${error.message}`,
  )
}

describe.each([...overHttp, ...overBridge])('$name', (client) => {
  // spec: 4.4/s5
  test('lists one tool with the schemas of the active revision', async ({ tenant }) => {
    const tools = await client.list(endpointOf(tenant, tenant.sandboxes.echo))
    expect(tools).toMatchObject([
      {
        name: 'invoke_product',
        title: 'Echo',
        description: 'Says what it receives.',
        inputSchema: {
          type: 'object',
          properties: {
            topic: { type: 'string' },
            tone: { type: 'string', enum: ['dry', 'warm'] },
            size: { type: 'number' },
            loud: { type: 'boolean' },
            more: { type: 'object' },
          },
          required: ['topic'],
        },
        outputSchema: { properties: { text: { type: 'string' }, double: { type: 'number' } }, required: ['text'] },
      },
    ])
  })

  // spec: 1/s8, 4.4/s7
  test('calls the tool and gets structured content that matches the schema, plus its text form', async ({ tenant }) => {
    const input = { topic: 'Rain', tone: 'dry', size: 2, loud: true, more: { a: [1, null] } }
    const result = await client.call(endpointOf(tenant, tenant.sandboxes.echo), input, newKey())
    const output = { text: 'Rain (dry, true)', double: 4, more: { a: [1, null] } }
    expect(result).toMatchObject({ isError: false, structured: output })
    expect(JSON.parse(result.content[0]!.text!)).toEqual(output)
  })

  test('omits an optional input and gets no value for it', async ({ tenant }) => {
    const result = await client.call(endpointOf(tenant, tenant.sandboxes.echo), { topic: 'Sun' }, newKey())
    expect(result).toMatchObject({ isError: false, structured: { text: 'Sun (, )', double: 0 } })
    expect(result.structured).not.toHaveProperty('more')
  })

  // spec: 4.4/s7
  test('receives an image as image content', async ({ tenant }) => {
    const result = await client.call(endpointOf(tenant, tenant.sandboxes.picture), { prompt: randomUUID() }, newKey())
    const image = result.content.find(({ type }) => type === 'image')!
    expect(image.mimeType).toBe('image/png')
    const bytes = Buffer.from(image.data!, 'base64')
    expect(bytes.subarray(1, 4).toString()).toBe('PNG')
    expect(result.structured).toEqual({
      picture: { asset: expect.stringMatching(/^ast_/) as string, mimeType: 'image/png', bytes: bytes.length },
    })
  })

  // spec: 4.4/s7
  test('receives a sound as audio content', async ({ tenant }) => {
    const input = { text: randomUUID(), voice: 'alto' }
    const result = await client.call(endpointOf(tenant, tenant.sandboxes.speech), input, newKey())
    const sound = result.content.find(({ type }) => type === 'audio')!
    expect(sound.mimeType).toBe('audio/wav')
    expect(Buffer.from(sound.data!, 'base64').subarray(0, 4).toString()).toBe('RIFF')
  })

  test('passes an image by asset ID', async ({ tenant }) => {
    const endpoint = endpointOf(tenant, tenant.sandboxes.picture)
    const drawn = await client.call(endpoint, { prompt: randomUUID() }, newKey())
    const { picture } = drawn.structured as { picture: { asset: string } }
    const mirrored = await client.call(
      endpointOf(tenant, tenant.sandboxes.mirror),
      { photo: { asset: picture.asset } },
      newKey(),
    )
    expect(mirrored.structured).toEqual({ photo: picture })
    expect(mirrored.content[1]).toEqual(drawn.content[1])
  })

  // spec: 2.3/s9
  test('receives the error of an invalid input and is charged nothing [input_type]', async ({ tenant }) => {
    const settled = await tenant.settled()
    const result = await client.call(
      endpointOf(tenant, tenant.sandboxes.speech),
      { text: 'Hi', voice: 'none' },
      newKey(),
    )
    expect(refusalIn(result)).toMatchObject({
      code: 'input_type',
      message: expect.stringContaining('voice must be one of "alto", "bass"') as string,
      resolution: expect.stringMatching(/\w/) as string,
    })
    expect(await tenant.settled()).toBe(settled)
  })

  // spec: 4.4/s4
  test('is refused a flow of another project [sandbox_not_found]', async ({ tenant }) => {
    const endpoint = endpointOf(tenant, tenant.sandboxes.echo, tenant.otherTenant.key.secret)
    expect(await refusalOf(client.list(endpoint))).toMatch(REFUSED)
  })

  // spec: 1/s8, 2.3/s18, 4.4/s1
  test('is refused if MCP is disabled [mcp_disabled]', async ({ tenant }) => {
    expect(await refusalOf(client.list(endpointOf(tenant, tenant.sandboxes.disabled)))).toMatch(REFUSED)
  })

  // spec: 4.4/s4, 5/s12
  test('is refused with an unknown key [key_invalid]', async ({ tenant }) => {
    const endpoint = endpointOf(tenant, tenant.sandboxes.echo, `svc_${'0'.repeat(49)}`)
    expect(await refusalOf(client.list(endpoint))).toMatch(REFUSED)
  })
})

describe.each(overHttp)('$name', (client) => {
  // spec: 4.4/s6, 8.2/r9
  test('receives instructions for sending a missing idempotency key [idempotency_key_required]', async ({ tenant }) => {
    const executions = await tenant.executions(tenant.sandboxes.echo)
    const result = await client.call(
      endpointOf(tenant, tenant.sandboxes.echo),
      { topic: 'a' },
      { idempotencyKey: null },
    )
    const { code, resolution } = refusalIn(result)
    expect(code).toBe('idempotency_key_required')
    expect(resolution).toContain('Send the HTTP header Idempotency-Key with each tools/call')
    expect(resolution).toContain('bridge')
    expect(await tenant.executions(tenant.sandboxes.echo)).toBe(executions)
  })

  // spec: 8.2/r9
  test('is refused with an invalid idempotency key [idempotency_key_invalid]', async ({ tenant }) => {
    const endpoint = endpointOf(tenant, tenant.sandboxes.echo)
    expect(refusalIn(await client.call(endpoint, { topic: 'a' }, { idempotencyKey: 'short' })).code).toBe(
      'idempotency_key_invalid',
    )
  })

  // spec: 4.4/s2, 4.4/s6
  test('repeats a call on other replicas and over invoke: one execution, one charge, the same result', async ({
    tenant,
  }) => {
    const sandbox = await tenant.chain()
    const [idempotencyKey, input, settled] = [randomUUID(), { prompt: randomUUID() }, await tenant.settled()]
    const results: ToolResult[] = []
    for (const gateway of [0, 1, 2])
      results.push(
        await client.call(endpointOf(tenant, sandbox, tenant.key.secret, gateway), input, { idempotencyKey }),
      )
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
    expect(await tenant.executions(sandbox)).toBe(1)

    const record = await tenant.invoke(sandbox, input, idempotencyKey)
    expect(record.output).toEqual(results[0]!.structured)
    expect(await tenant.settled()).toBe(settled + record.chargedMicro)
    expect(await tenant.executions(sandbox)).toBe(1)
  })

  test('is refused an idempotency key of a different request [idempotency_mismatch]', async ({ tenant }) => {
    const endpoint = endpointOf(tenant, tenant.sandboxes.echo)
    const key = newKey()
    await client.call(endpoint, { topic: 'one' }, key)
    expect(refusalIn(await client.call(endpoint, { topic: 'two' }, key)).code).toBe('idempotency_mismatch')
  })
})

describe.each(overBridge)('$name', (client) => {
  test('starts a new execution for each call without an idempotency key', async ({ tenant }) => {
    const sandbox = await tenant.chain()
    for (const _ of [1, 2])
      expect(
        await client.call(endpointOf(tenant, sandbox), { prompt: 'same' }, { idempotencyKey: null }),
      ).toMatchObject({
        isError: false,
        structured: { text: expect.any(String) as string },
      })
    expect(await tenant.executions(sandbox)).toBe(2)
  })
})

// The inspector's command line shows no progress.
const result = [...overHttp, ...overBridge].filter(({ name }) => !name.startsWith('inspector'))

describe.each(result)('$name', (client) => {
  test('receives the progress of an execution', async ({ stack, tenant }) => {
    const [prompt, seen]: [string, number[]] = [randomUUID(), []]
    const endpoint = endpointOf(tenant, await tenant.chain())
    // The client may drop progress that arrives together with the result, so the second call is held until the rest was seen.
    const { control } = stack.provider
    await control.setFaults([
      { prompt, latencyMs: 0, times: 1 },
      { prompt, hold: true, times: 1 },
    ])
    const calling = client.call(endpoint, { prompt }, { ...newKey(), onProgress: (at) => seen.push(at) })
    await expect.poll(() => seen).toEqual([0, 1, 2])
    await control.waitForCalls(2, { prompt })
    await control.release()
    expect((await calling).isError).toBe(false)
    expect(seen).toEqual([0, 1, 2, 3, 4].slice(0, seen.length))
  })
})

test.for([sdkTwo(modern), sdkTwo('legacy')])(
  '$name receives the refusal of arguments that are not an object [invalid_request]',
  async (client, { tenant }) => {
    const endpoint = endpointOf(tenant, tenant.sandboxes.echo)
    expect(refusalIn(await client.call(endpoint, 'x' as never, newKey())).code).toBe('invalid_request')
  },
)

test('a client runs the tool with the fetch that the refusal of a missing key gives', async ({ tenant }) => {
  const { url } = endpointOf(tenant, tenant.sandboxes.echo)
  const authorization = `Bearer ${tenant.key.secret}`
  const { resolution } = refusalIn(
    await sdkTwo(modern).call({ url, key: tenant.key.secret }, {}, { idempotencyKey: null }),
  )
  const [, given] = /this one: (.+?)\. A client/.exec(resolution)!
  const { default: fetchWithKey } = (await import(
    `data:text/javascript,${encodeURIComponent(`export default ${given}`)}`
  )) as { default: typeof fetch }
  const client = new Client({ name: 'scenario', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } }, fetch: fetchWithKey }),
  )
  const { structuredContent } = await client.callTool({ name: 'invoke_product', arguments: { topic: 'Rain' } })
  await client.close()
  expect(structuredContent).toMatchObject({ text: 'Rain (, )' })
})
