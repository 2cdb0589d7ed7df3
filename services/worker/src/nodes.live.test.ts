import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Fixture } from '@gateway/testbed/fixture'
import { expect } from 'vitest'
import { flow, stackTest, newPrompt, nodeOf, oneChat, side } from './stack.fixture.ts'

// spec: 2.3/s13, 8.3/s3
stackTest('runs a flow without products to its end at no cost', async ({ startWorker, tenant }) => {
  await startWorker()
  const greet = { id: 'greet', kind: 'template', template: 'Hello {{ name }}!' }
  const graph = flow(side('name'), side('text'), [greet], 'in.name>greet.name', 'greet.text>out.text')
  const record = await tenant.run(graph, { name: 'Ada' })
  expect(record).toMatchObject({ status: 'Succeeded', output: { text: 'Hello Ada!' }, error: null, chargedMicro: 0 })
  expect(record.nodes.map(({ status }) => status)).toEqual(['Succeeded', 'Succeeded', 'Succeeded'])
  expect(record.nodes.map(({ remoteMs }) => remoteMs)).toEqual([null, null, null])
})

stackTest('records what the provider of a chat node charges', async ({ startWorker, tenant, fixture }) => {
  await startWorker()
  const cost = { unit: 'tokens', prompt: '0.0000001', completion: '0.000000000001' } as const
  const providers = [{ provider: 'simulated', model: 'sim', priority: 1, cost }]
  const model = await tenant.publish({ promptPico: 150_000n, completionPico: 600_000n, providers })
  const record = await tenant.run(oneChat(model), { prompt: newPrompt() })
  const { rows } = await fixture.run(
    'SELECT 100000 * prompt_tokens + completion_tokens AS cost FROM money.attempts WHERE execution = $1',
    [record.id],
  )
  expect(await costsOf(fixture, record.id)).toEqual({ chat: String(rows[0]!.cost) })
})

// spec: 1/s7, 2.3/s13, 2.4/s1, 2.4/s2, 8.3/s3
stackTest('sends a chat call like a direct one and charges it by its usage', async ({ startWorker, tenant, stack }) => {
  await startWorker()
  const prompt = newPrompt()
  const nodes = [
    { id: 'rule', kind: 'constant', value: 'Be brief.' },
    { id: 'chat', kind: 'product.chat', product: tenant.model, params: { max_tokens: 20, temperature: 0.5, seed: 3 } },
  ]
  const edges = ['in.prompt>chat.prompt', 'rule.value>chat.system', 'chat.text>out.text']
  const record = await tenant.run(flow(side('prompt'), side('text'), nodes, ...edges), { prompt })

  const [call] = await stack.provider.control.calls({ prompt })
  expect(JSON.parse(call!.body!)).toEqual({
    model: 'sim',
    max_tokens: 20,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: prompt },
    ],
    temperature: 0.5,
    seed: 3,
  })
  const chat = nodeOf(record, 'chat')
  expect(chat).toMatchObject({ status: 'Succeeded', error: null, output: { text: expect.any(String) as string } })
  expect(chat.remoteMs).toBeGreaterThanOrEqual(0)
  expect(chat.durationMs).toBeGreaterThanOrEqual(chat.remoteMs!)
  expect(record).toMatchObject({ status: 'Succeeded', output: chat.output, childCalls: [chat.callId] })
  expect(record.chargedMicro).toBe(chat.chargedMicro)
  expect(record.chargedMicro).toBeGreaterThan(20)
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: record.chargedMicro })
})

stackTest.for<[what: string, fault: { missingUsage?: true; usageFactor?: number }]>([
  ['no usage', { missingUsage: true }],
  ['usage without tokens', { usageFactor: 0 }],
])(
  'charges a call by our own token count if the provider reports %s',
  async ([, fault], { startWorker, tenant, stack, fixture }) => {
    await startWorker()
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, text: 'one two three', ...fault }])
    const record = await tenant.run(oneChat(tenant.model), { prompt })
    const { rows } = await fixture.run(
      'SELECT prompt_tokens, completion_tokens, estimated FROM money.attempts WHERE id = $1',
      [nodeOf(record, 'chat').callId],
    )
    expect(rows).toEqual([{ prompt_tokens: expect.any(Number) as number, completion_tokens: 3, estimated: true }])
  },
)

stackTest(
  'a metric of the ledger names the provider of a call that used more than its bound',
  async ({ startWorker, tenant, stack }) => {
    await startWorker()
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, usageFactor: 1_000 }])
    expect(await tenant.run(oneChat(tenant.model), { prompt })).toMatchObject({ status: 'Succeeded' })
    const measured = async () => (await fetch(`${stack.ledgers[0]!.metricsUrl}/metrics`)).text()
    await expect.poll(measured).toMatch(/^ledger_write_offs_excess_total\{provider="simulated".*\} [1-9]/m)
  },
)

stackTest(
  'a prompt that cannot be counted yet makes its node wait instead of failing',
  async ({ startWorker, tenant, stack, fixture }) => {
    await startWorker({ MAX_CONCURRENT_PROMPT_CHARACTERS: '1' }) // every prompt is longer
    const product = await fixture.product({ contextLength: 4_000 })
    await fixture.run(`UPDATE control.products SET tokenizer = 'o200k_base' WHERE id = $1`, [product])
    await fixture.assign(tenant.project, product)
    const admissionsAsked = async () => {
      const measured = await (await fetch(`${stack.ledgers[0]!.metricsUrl}/metrics`)).text()
      return Number(/^ledger_batch_items_sum(?:\{[^}]*\})? (\d+)/m.exec(measured)?.[1] ?? 0)
    }
    const before = await admissionsAsked()
    const prompt = `${newPrompt()}${' ab'.repeat(2_000)}` // 6 kilobytes
    const execution = await tenant.start(oneChat(product, { params: { max_tokens: 20 } }), { prompt })
    await expect.poll(admissionsAsked).toBeGreaterThan(before + 5) // the node keeps retrying its admission
    expect((await tenant.record(execution)).done).toBe(false)
    await fixture.run('UPDATE control.products SET context_length = 9000 WHERE id = $1', [product])
    expect(await tenant.ended(execution)).toMatchObject({ status: 'Succeeded', error: null })
  },
)

stackTest(
  'siblings run in sequence if the ceiling cannot cover them together, and one it cannot cover at all fails the execution [ceiling_reached]',
  async ({ startWorker, tenant }) => {
    await startWorker()
    const ids = ['a', 'b', 'c']
    const nodes = ids.map((id) => ({ id, kind: 'product.chat', product: tenant.model, params: { max_tokens: 200 } }))
    const edges = ids.flatMap((id) => [`in.prompt>${id}.prompt`, `${id}.text>out.${id}`])
    const graph = flow(side('prompt'), side(...ids), nodes, ...edges)
    const input = { prompt: newPrompt() }
    const free = await tenant.run(graph, input)
    const each = free.chargedMicro / 3
    const none = await tenant.run(graph, input, { maxMicro: 0 })
    const { neededMicro } = none.error!.details as { neededMicro: number }
    expect(neededMicro).toBeGreaterThan(each)
    const maxMicro = 2 * each + neededMicro
    expect(await tenant.run(graph, input, { maxMicro })).toMatchObject({
      status: 'Succeeded',
      maxMicro,
      chargedMicro: 3 * each,
    })
    const short = await tenant.run(graph, input, { maxMicro: maxMicro - 1 })
    expect(short).toMatchObject({ status: 'Failed', error: { code: 'ceiling_reached' }, chargedMicro: 2 * each })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 8 * each })
  },
)

stackTest(
  'a chat node with response_format also outputs the parsed object, and fails if the text is not JSON',
  async ({ startWorker, tenant, stack }) => {
    await startWorker()
    const prompt = newPrompt()
    const params = { response_format: { type: 'json_object' } }
    const chat = { id: 'chat', kind: 'product.chat', product: tenant.model, params }
    const sides = [side('prompt'), side(['data', { type: 'object' }])] as const
    const graph = flow(...sides, [chat], 'in.prompt>chat.prompt', 'chat.json>out.data')
    const record = await tenant.run(graph, { prompt })
    expect(record).toMatchObject({ status: 'Succeeded', output: { data: { answer: expect.any(String) as string } } })
    expect(JSON.parse(nodeOf(record, 'chat').output!['text'] as string)).toEqual(record.output!['data'])

    await stack.provider.control.setFaults([{ prompt, text: 'Certainly! Here it is' }])
    const failed = await tenant.run(graph, { prompt })
    expect(failed).toMatchObject({ status: 'Failed', error: { code: 'node_failed' } })
    expect(failed.chargedMicro).toBeGreaterThan(0) // the model did respond
  },
)

stackTest.for<[kind: string, port: string]>([
  ['chat', 'prompt'],
  ['image', 'prompt'],
  ['audio', 'text'],
])(
  'a null that a branch leads to a product.%s node fails it uncharged',
  async ([kind, port], { startWorker, tenant }) => {
    await startWorker()
    const product = kind === 'chat' ? tenant.model : await tenant.publish({ kind, requestPico: 13_000_000n } as never)
    const nodes = [
      { id: 'long', kind: 'branch', condition: 'note != null && size(note) > 400' },
      { id: 'small', kind: `product.${kind}`, product },
    ]
    const input = { ...side('note'), required: [] }
    const output = { ...side('note'), required: [] }
    const edges = ['in.note>long.note', `long.false.note>small.${port}`, 'long.true.note>out.note']
    const record = await tenant.run(flow(input, output, nodes, ...edges), {})
    expect(record).toMatchObject({ status: 'Failed', chargedMicro: 0, childCalls: [] })
    expect(nodeOf(record, 'small')).toMatchObject({
      status: 'Failed',
      callId: null,
      error: { code: 'node_failed', param: port, message: expect.stringContaining(`${port} of node small`) as string },
    })
  },
)

// spec: 2.3/s13, 8.3/s4
stackTest(
  'stores a generated image and audio as assets of the project at a fixed price',
  async ({ startWorker, tenant, fixture, assets }) => {
    await startWorker()
    const [canvas, voice] = [
      await tenant.publish({
        kind: 'image',
        requestPico: 40_000_000n,
        providers: [
          { provider: 'simulated', model: 'sim', priority: 1, cost: { unit: 'request', request: '0.0000131' } },
        ],
      }),
      await tenant.publish({ kind: 'audio', requestPico: 15_000_000n }),
    ]
    const nodes = [
      { id: 'draw', kind: 'product.image', product: canvas },
      { id: 'say', kind: 'product.audio', product: voice },
    ]
    const output = side(
      ['picture', { type: 'object', format: 'image' }],
      ['sound', { type: 'object', format: 'audio' }],
    )
    const edges = ['in.text>draw.prompt', 'in.text>say.text', 'draw.image>out.picture', 'say.audio>out.sound']
    const record = await tenant.run(flow(side('text'), output, nodes, ...edges), { text: newPrompt() })

    expect(record).toMatchObject({ status: 'Succeeded', chargedMicro: 55 })
    expect(nodeOf(record, 'draw').chargedMicro).toBe(40)
    expect(await costsOf(fixture, record.id)).toEqual({ draw: '13100000', say: null })
    for (const [field, mimeType] of [
      ['picture', 'image/png'],
      ['sound', 'audio/wav'],
    ] as const) {
      const value = record.output![field] as { asset: string; mimeType: string; bytes: number }
      expect(value.mimeType).toBe(mimeType)
      expect(await assets.readWhole(tenant.project, value.asset)).toHaveLength(value.bytes)
      const { rows } = await fixture.run(
        'SELECT project, mime_type, bytes, execution FROM money.assets WHERE id = $1',
        [value.asset],
      )
      expect(rows).toEqual([{ project: tenant.project, mime_type: mimeType, bytes: value.bytes, execution: record.id }])
    }
  },
)

stackTest(
  'sends the params of media nodes to the provider, at the same price',
  async ({ startWorker, tenant, stack }) => {
    await startWorker()
    const canvas = await tenant.publish({ kind: 'image', requestPico: 40_000_000n })
    const voice = await tenant.publish({ kind: 'audio', requestPico: 15_000_000n })
    const nodes = [
      { id: 'draw', kind: 'product.image', product: canvas, params: { size: '64x32', format: 'png' } },
      { id: 'say', kind: 'product.audio', product: voice, params: { voice: 'ada' } },
    ]
    const output = side(
      ['picture', { type: 'object', format: 'image' }],
      ['sound', { type: 'object', format: 'audio' }],
    )
    const edges = ['in.text>draw.prompt', 'in.text>say.text', 'draw.image>out.picture', 'say.audio>out.sound']
    const text = newPrompt()
    const record = await tenant.run(flow(side('text'), output, nodes, ...edges), { text })
    expect(record).toMatchObject({ status: 'Succeeded', chargedMicro: 55 })
    const calls = await stack.provider.control.calls({ prompt: text })
    const bodies = new Map(calls.map(({ path, body }) => [path, JSON.parse(body!) as object]))
    expect(bodies.get('/v1/images/generations')).toMatchObject({ size: '64x32', output_format: 'png' })
    expect(bodies.get('/v1/audio/speech')).toMatchObject({ voice: 'ada' })
  },
)

stackTest(
  'a failing provider fails the node uncharged [provider_failed] [provider_timeout]',
  async ({ startWorker, tenant, stack }) => {
    await startWorker({ PROVIDERS: hasty(stack.provider.url) })
    for (const [fault, code] of [
      [{ status: 500 }, 'provider_failed'],
      [{ stall: 'before-first-byte' }, 'provider_timeout'],
    ] as const) {
      const prompt = newPrompt()
      await stack.provider.control.setFaults([{ prompt, ...fault }])
      const record = await tenant.run(oneChat(tenant.model), { prompt })
      expect(record).toMatchObject({ status: 'Failed', error: { code }, output: null, chargedMicro: 0 })
      expect(nodeOf(record, 'chat')).toMatchObject({ status: 'Failed', error: { code }, chargedMicro: 0 })
    }
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  },
)

stackTest(
  'media larger than its product allows fails the node after one call, and the error names the limit [invalid_request]',
  async ({ startWorker, tenant, stack }) => {
    await startWorker()
    for (const [kind, name, input, cure] of [
      ['image', 'draw', 'prompt', 'size'],
      ['audio', 'say', 'text', 'mp3'],
    ] as const) {
      const product = await tenant.publish({ kind, requestPico: 15_000_000n, maxOutputBytes: 90 })
      const output = side(['made', { type: 'object', format: kind }])
      const node = { id: name, kind: `product.${kind}`, product }
      const graph = flow(side('text'), output, [node], `in.text>${name}.${input}`, `${name}.${kind}>out.made`)
      const text = newPrompt()
      const record = await tenant.run(graph, { text })
      const error = { code: 'invalid_request', message: expect.stringContaining('90 bytes') as string }
      expect(record).toMatchObject({ status: 'Failed', error, chargedMicro: 0 })
      expect(record.error!.resolution).toMatch(new RegExp(`${cure}.*Max output bytes`))
      expect(await stack.provider.control.countCalls({ prompt: text })).toBe(1)
    }
  },
)

// spec: 8.2/r5
stackTest(
  'a response larger than 64 KB fails the node and is charged [value_too_large]',
  async ({ startWorker, tenant, stack }) => {
    await startWorker()
    const prompt = newPrompt()
    const model = await tenant.publish({ maxOutputTokens: 8192 })
    await stack.provider.control.setFaults([{ prompt, text: 'ä'.repeat(40_000) }])
    const record = await tenant.run(oneChat(model), { prompt })
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'value_too_large', details: { port: 'text' } } })
    expect(record.chargedMicro).toBeGreaterThan(10_000)
  },
)

/** Flow with two calls of one model in sequence. */
function twoChats(product: string) {
  const nodes = ['one', 'two'].map((id) => ({ id, kind: 'product.chat', product }))
  const edges = ['in.prompt>one.prompt', 'one.text>two.prompt', 'two.text>out.text']
  return flow(side('prompt'), side('text'), nodes, ...edges)
}

stackTest(
  'a node fails if its product was unassigned during the execution [product_not_assigned]',
  async ({ startWorker, tenant, fixture, stack }) => {
    const { control } = stack.provider
    await startWorker()
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true }])
    const execution = await tenant.start(twoChats(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await fixture.run('DELETE FROM control.assignments WHERE project = $1', [tenant.project])
    await control.release()
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'product_not_assigned' } })
    expect(nodeOf(record, 'two')).toMatchObject({ status: 'Failed', chargedMicro: 0 })
    expect(record.chargedMicro).toBe(nodeOf(record, 'one').chargedMicro)
  },
)

stackTest(
  'a node fails if the spending window of its key is used up [key_limit]',
  async ({ startWorker, tenant, fixture, stack }) => {
    await startWorker()
    const prompt = newPrompt()
    const limit = { micro: 10n, reset: 'daily' } as const
    const key = await fixture.key({ project: tenant.projectFixture, by: tenant.owners.owner, limit })
    const record = await tenant.run(oneChat(tenant.model), { prompt }, { as: key })
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'key_limit', details: { limitMicro: 10 } } })
    expect(await stack.provider.control.countCalls({ prompt })).toBe(0)
  },
)

stackTest(
  'an execution fails at its next call after its key was revoked [key_revoked]',
  async ({ startWorker, tenant, fixture, stack }) => {
    const { control } = stack.provider
    await startWorker()
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true }])
    const execution = await tenant.start(twoChats(tenant.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [tenant.key.id])
    await control.release()
    const record = await tenant.ended(execution)
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'key_revoked' } })
    expect(record.chargedMicro).toBe(nodeOf(record, 'one').chargedMicro)
    expect(record.chargedMicro).toBeGreaterThan(0)
  },
)

stackTest(
  'an image that cannot be stored fails its node uncharged [unavailable]',
  async ({ startWorker, tenant, stack, fixture }) => {
    const folder = path.join(stack.folder, 'no-folder')
    await startWorker({ ASSETS_FOLDER: folder })
    await rm(folder, { recursive: true })
    await writeFile(folder, 'a file')
    const canvas = await tenant.publish({ kind: 'image', requestPico: 40_000_000n })
    const draw = { id: 'draw', kind: 'product.image', product: canvas }
    const output = side(['picture', { type: 'object', format: 'image' }])
    const graph = flow(side('text'), output, [draw], 'in.text>draw.prompt', 'draw.image>out.picture')
    const record = await tenant.run(graph, { text: newPrompt() })
    expect(record).toMatchObject({ status: 'Failed', error: { code: 'unavailable' }, chargedMicro: 0 })
    expect((await fixture.run('SELECT id FROM money.assets WHERE execution = $1', [record.id])).rows).toEqual([])
  },
)

/** Simulated provider with a short timeout, still long enough on a machine that is busy with other tests. */
function hasty(url: string): string {
  const common = { kind: 'openai-compatible', allowPrivateAddress: true, apiKeyEnv: 'SIMULATED_PROVIDER_KEY', tries: 1 }
  return JSON.stringify({
    simulated: { ...common, baseUrl: `${url}/v1`, firstByteMs: 2_000, circuitFailures: 1_000_000 },
  })
}

/** Recorded costs of the calls of an execution, by node, in pico-USD. */
async function costsOf({ run }: Pick<Fixture, 'run'>, execution: string): Promise<Record<string, string | null>> {
  const { rows } = await run('SELECT node, cost_pico FROM money.attempts WHERE execution = $1', [execution])
  return Object.fromEntries(
    (rows as { node: string; cost_pico: string | null }[]).map((row) => [row.node, row.cost_pico]),
  )
}
