import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { McpClient, Place, Told } from './src/mcp/clients/mcp-client.ts'
import { inspector, inspectorOverBridge } from './src/mcp/clients/inspector.ts'
import { sdkOne, sdkOneOverBridge } from './src/mcp/clients/sdk-one.ts'
import { sdkTwo, sdkTwoOverBridge } from './src/mcp/clients/sdk-two.ts'
import type { Studio } from './src/mcp/studio.ts'
import { studioTest as test } from './src/mcp/studio-test.ts'

// Clients as their makers ship them, over HTTP and through the bridge, each against a replica of its own choosing.

const modern = { pin: '2026-07-28' }
const overHttp: McpClient[] = [sdkTwo(modern), sdkTwo('legacy'), sdkOne, inspector('modern'), inspector('legacy')]
const overBridge: McpClient[] = [
  sdkTwoOverBridge(modern),
  sdkTwoOverBridge('legacy'),
  sdkOneOverBridge,
  inspectorOverBridge,
]

const placeOf = (studio: Studio, sandbox: string, key: string | null = studio.key.secret, gateway = 0): Place => ({
  url: studio.at(sandbox, gateway),
  key,
})
const newKey = () => ({ idempotencyKey: randomUUID() })

/** What clients show of a refusal: its code, the status, or that the server offers nothing. */
const REFUSED = /sandbox_not_found|mcp_disabled|key_invalid|40[134]|auth_required|negotiation failed/i

/** The refusal that a result is. */
function refusalIn({ isError, content }: Told): { code: string; message: string; resolution: string } {
  expect(isError).toBe(true)
  return (JSON.parse(content[0]!.text!) as { error: { code: string; message: string; resolution: string } }).error
}

/** What a client told when it was refused, whatever it made of it. */
async function refusalOf(doing: Promise<unknown>): Promise<string> {
  return doing.then(
    () => 'it was not refused',
    (error: Error & { code?: unknown }) => `${String(error.code)} ${error.message}`,
  )
}

describe.each([...overHttp, ...overBridge])('$name', (client) => {
  test('is told of one tool, with the schemas of the active revision', async ({ studio }) => {
    const tools = await client.list(placeOf(studio, studio.sandboxes.echo))
    expect(tools).toMatchObject([
      {
        name: 'invoke_product',
        title: 'Echo',
        description: 'Says what it is told.',
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

  test('calls it, and gets values that fit the schema and a text of them', async ({ studio }) => {
    const input = { topic: 'Rain', tone: 'dry', size: 2, loud: true, more: { a: [1, null] } }
    const told = await client.call(placeOf(studio, studio.sandboxes.echo), input, newKey())
    const output = { text: 'Rain (dry, true)', double: 4, more: { a: [1, null] } }
    expect(told).toMatchObject({ isError: false, structured: output })
    expect(JSON.parse(told.content[0]!.text!)).toEqual(output)
  })

  test('leaves out what is optional, and gets no value for it', async ({ studio }) => {
    const told = await client.call(placeOf(studio, studio.sandboxes.echo), { topic: 'Sun' }, newKey())
    expect(told).toMatchObject({ isError: false, structured: { text: 'Sun (, )', double: 0 } })
    expect(told.structured).not.toHaveProperty('more')
  })

  test('gets an image as an image', async ({ studio }) => {
    const told = await client.call(placeOf(studio, studio.sandboxes.picture), { prompt: randomUUID() }, newKey())
    const image = told.content.find(({ type }) => type === 'image')!
    expect(image.mimeType).toBe('image/png')
    const bytes = Buffer.from(image.data!, 'base64')
    expect(bytes.subarray(1, 4).toString()).toBe('PNG')
    expect(told.structured).toEqual({
      picture: { asset: expect.stringMatching(/^ast_/) as string, mimeType: 'image/png', bytes: bytes.length },
    })
  })

  test('gets a sound as a sound', async ({ studio }) => {
    const input = { text: randomUUID(), voice: 'alto' }
    const told = await client.call(placeOf(studio, studio.sandboxes.speech), input, newKey())
    const sound = told.content.find(({ type }) => type === 'audio')!
    expect(sound.mimeType).toBe('audio/wav')
    expect(Buffer.from(sound.data!, 'base64').subarray(0, 4).toString()).toBe('RIFF')
  })

  test('gives an image by the id of an asset', async ({ studio }) => {
    const place = placeOf(studio, studio.sandboxes.picture)
    const drawn = await client.call(place, { prompt: randomUUID() }, newKey())
    const { picture } = drawn.structured as { picture: { asset: string } }
    const mirrored = await client.call(
      placeOf(studio, studio.sandboxes.mirror),
      { photo: { asset: picture.asset } },
      newKey(),
    )
    expect(mirrored.structured).toEqual({ photo: picture })
    expect(mirrored.content[1]).toEqual(drawn.content[1])
  })

  test('is told what is wrong with an input, and is charged nothing [input_type]', async ({ studio }) => {
    const settled = await studio.settled()
    const told = await client.call(placeOf(studio, studio.sandboxes.speech), { text: 'Hi', voice: 'none' }, newKey())
    expect(refusalIn(told)).toMatchObject({
      code: 'input_type',
      message: expect.stringContaining('voice must be one of "alto", "bass"') as string,
      resolution: expect.stringMatching(/\w/) as string,
    })
    expect(await studio.settled()).toBe(settled)
  })

  test('is not let into another project [sandbox_not_found]', async ({ studio }) => {
    const place = placeOf(studio, studio.sandboxes.echo, studio.stranger.key.secret)
    expect(await refusalOf(client.list(place))).toMatch(REFUSED)
  })

  test('is not let in where MCP is not enabled [mcp_disabled]', async ({ studio }) => {
    expect(await refusalOf(client.list(placeOf(studio, studio.sandboxes.disabled)))).toMatch(REFUSED)
  })

  test('is not let in with a key of nobody [key_invalid]', async ({ studio }) => {
    const place = placeOf(studio, studio.sandboxes.echo, `svc_${'0'.repeat(49)}`)
    expect(await refusalOf(client.list(place))).toMatch(REFUSED)
  })
})

describe.each(overHttp)('$name', (client) => {
  test('is told how to send the key that it left out [idempotency_key_required]', async ({ studio }) => {
    const executions = await studio.executions(studio.sandboxes.echo)
    const told = await client.call(placeOf(studio, studio.sandboxes.echo), { topic: 'a' }, { idempotencyKey: null })
    const { code, resolution } = refusalIn(told)
    expect(code).toBe('idempotency_key_required')
    expect(resolution).toContain('Send the HTTP header Idempotency-Key with each tools/call')
    expect(resolution).toContain('bridge')
    expect(await studio.executions(studio.sandboxes.echo)).toBe(executions)
  })

  test('is told of a key that is none [idempotency_key_invalid]', async ({ studio }) => {
    const place = placeOf(studio, studio.sandboxes.echo)
    expect(refusalIn(await client.call(place, { topic: 'a' }, { idempotencyKey: 'short' })).code).toBe(
      'idempotency_key_invalid',
    )
  })

  test('repeats a call on other replicas: one run, one charge, the same result; by HTTP as well', async ({
    studio,
  }) => {
    const sandbox = await studio.chain()
    const [idempotencyKey, input, settled] = [randomUUID(), { prompt: randomUUID() }, await studio.settled()]
    const results: Told[] = []
    for (const gateway of [0, 1, 2])
      results.push(await client.call(placeOf(studio, sandbox, studio.key.secret, gateway), input, { idempotencyKey }))
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
    expect(await studio.executions(sandbox)).toBe(1)

    const record = await studio.invoke(sandbox, input, idempotencyKey)
    expect(record.output).toEqual(results[0]!.structured)
    expect(await studio.settled()).toBe(settled + record.chargedMicro)
    expect(await studio.executions(sandbox)).toBe(1)
  })

  test('is told of a key that was used for something else [idempotency_mismatch]', async ({ studio }) => {
    const place = placeOf(studio, studio.sandboxes.echo)
    const key = newKey()
    await client.call(place, { topic: 'one' }, key)
    expect(refusalIn(await client.call(place, { topic: 'two' }, key)).code).toBe('idempotency_mismatch')
  })
})

describe.each(overBridge)('$name', (client) => {
  test('calls without a key of its own, each time another run', async ({ studio }) => {
    const sandbox = await studio.chain()
    for (const _ of [1, 2])
      expect(await client.call(placeOf(studio, sandbox), { prompt: 'same' }, { idempotencyKey: null })).toMatchObject({
        isError: false,
        structured: { text: expect.any(String) as string },
      })
    expect(await studio.executions(sandbox)).toBe(2)
  })
})

// The inspector's command line shows no progress.
const told = [...overHttp, ...overBridge].filter(({ name }) => !name.startsWith('inspector'))

describe.each(told)('$name', (client) => {
  test('is told how far a run has come', async ({ studio }) => {
    const seen: number[] = []
    const place = placeOf(studio, await studio.chain())
    const result = await client.call(place, { prompt: 'Tell.' }, { ...newKey(), onProgress: (at) => seen.push(at) })
    expect(result.isError).toBe(false)
    // The client may drop what comes at once with the result.
    expect(seen.length).toBeGreaterThan(2)
    expect(seen).toEqual([0, 1, 2, 3, 4].slice(0, seen.length))
  })
})
