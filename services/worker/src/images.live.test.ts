import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { flow, newPrompt, nodeOf, side, stackTest } from './stack.fixture.ts'

// Images sent to a chat (flows §2.3, rules §3.11).

const MIB = 1024 * 1024
const SOON = { timeout: 10_000, interval: 20 }
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const pngOf = (bytes: number) => Buffer.concat([PNG, randomBytes(bytes - PNG.length)])
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

const test = stackTest.extend('store', ({ assets, ledger, tenant }) => {
  /** Stores an image as an asset of the project and returns the value that refers to it. */
  return async (bytes: Buffer, recordedBytes = bytes.length) => {
    const asset = `ast_${newPrompt().slice(7)}`
    const stored = await assets.put(tenant.project, asset, single(bytes), { maxBytes: 25_000_000 })
    const caller = { keyHash: tenant.key.hash, selector: null }
    await ledger.recordAsset({ id: asset, caller, mimeType: stored.mimeType, bytes: recordedBytes })
    return { asset, mimeType: stored.mimeType, bytes: recordedBytes }
  }
})

/** Flow with `prompt` and `photo` in and `text` out. */
function chatWithImage(product: string) {
  const chat = { id: 'chat', kind: 'product.chat', product }
  const input = side('prompt', ['photo', { type: 'object', format: 'image' }])
  return flow(input, side('text'), [chat], 'in.prompt>chat.prompt', 'in.photo>chat.image', 'chat.text>out.text')
}

/** Flow in which a chat model sees the image another model generates from the prompt. */
function drawnAndSeen(painter: string, viewer: string) {
  const nodes = [
    { id: 'paint', kind: 'product.image', product: painter },
    { id: 'look', kind: 'product.chat', product: viewer },
  ]
  const edges = ['in.prompt>paint.prompt', 'paint.image>look.image', 'in.prompt>look.prompt', 'look.text>out.text']
  return flow(side('prompt'), side('text'), nodes, ...edges)
}

// spec: 2.3/s7
test('sends an image of the project to a chat as its stored bytes, ignoring the type and size the input states', async ({
  startWorker,
  tenant,
  stack,
  store,
}) => {
  await startWorker()
  const model = await tenant.publish({ maxTokensPerImage: 100 })
  const png = pngOf(500)
  const photo = { ...(await store(png)), mimeType: 'image/jpeg', bytes: 1 }
  const prompt = newPrompt()
  expect(await tenant.run(chatWithImage(model), { prompt, photo })).toMatchObject({ status: 'Succeeded' })
  const [call] = await stack.provider.control.calls({ prompt })
  const url = `data:image/png;base64,${png.toString('base64')}`
  expect(JSON.parse(call!.body!)).toMatchObject({
    messages: [{ content: [{ type: 'text' }, { type: 'image_url', image_url: { url } }] }],
  })
})

// spec: 2.3/s7
test.for([20_000, 1_000_000, 5_000_000])(
  'sends a generated image of %i bytes to a chat unchanged, and charges both calls',
  async (bytes, { startWorker, tenant, stack }) => {
    await startWorker()
    const painter = await tenant.publish({ kind: 'image', requestPico: 40_000_000n })
    const viewer = await tenant.publish({ maxTokensPerImage: 100 })
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, imageBytes: bytes }])
    const record = await tenant.run(drawnAndSeen(painter, viewer), { prompt })
    expect(record).toMatchObject({ status: 'Succeeded', error: null })
    const { image } = nodeOf(record, 'paint').output as { image: { bytes: number } }
    expect(image.bytes).toBe(bytes)
    const calls = await stack.provider.control.calls({ prompt })
    expect(calls.map(({ path, images }) => [path, images.length])).toEqual([
      ['/v1/images/generations', 0],
      ['/v1/chat/completions', 1],
    ])
    expect(record.chargedMicro).toBe(40 + nodeOf(record, 'look').chargedMicro)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: record.chargedMicro })
  },
)

test('a generated image larger than its product allows fails the node uncharged [invalid_request]', async ({
  startWorker,
  tenant,
  stack,
}) => {
  await startWorker()
  const painter = await tenant.publish({ kind: 'image', requestPico: 40_000_000n, maxOutputBytes: MIB })
  const viewer = await tenant.publish({ maxTokensPerImage: 100, imageMaxBytes: MIB })
  for (const [bytes, outcome] of [
    [MIB, { status: 'Succeeded' }],
    [MIB + 1, { status: 'Failed', error: { code: 'invalid_request' }, chargedMicro: 0 }],
  ] as const) {
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, imageBytes: bytes }])
    expect(await tenant.run(drawnAndSeen(painter, viewer), { prompt })).toMatchObject(outcome)
  }
})

test('an image that is lost, or that the model does not accept, fails its node uncharged [asset_not_found] [invalid_request]', async ({
  startWorker,
  tenant,
  stack,
  ledger,
  store,
}) => {
  await startWorker()
  const model = await tenant.publish({ maxTokensPerImage: 100, imageMaxBytes: 1_000 })
  const blind = await tenant.publish()
  const lost = { asset: `ast_${newPrompt().slice(7)}`, mimeType: 'image/png', bytes: 8 } as const
  const caller = { keyHash: tenant.key.hash, selector: null }
  await ledger.recordAsset({ id: lost.asset, caller, mimeType: lost.mimeType, bytes: lost.bytes })
  for (const [product, photo, error] of [
    [model, lost, { code: 'asset_not_found' }],
    [model, await store(pngOf(1_001)), { code: 'invalid_request', param: 'image' }],
    [blind, await store(pngOf(1_000)), { code: 'invalid_request', param: 'image' }],
  ] as const) {
    const prompt = newPrompt()
    const record = await tenant.run(chatWithImage(product), { prompt, photo })
    expect(record).toMatchObject({ status: 'Failed', error, chargedMicro: 0 })
    expect(await stack.provider.control.countCalls({ prompt })).toBe(0)
  }
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
})

test('an image is not generated beyond a quota of assets, and a metric counts the refusal [quota_reached]', async ({
  startWorker,
  tenant,
  stack,
  fixture,
}) => {
  const worker = await startWorker()
  const painter = await tenant.publish({ kind: 'image', requestPico: 40_000_000n })
  const viewer = await tenant.publish({ maxTokensPerImage: 100 })
  await fixture.run(`UPDATE control.projects SET quotas = '{"assets": 0}' WHERE id = $1`, [tenant.project])
  const prompt = newPrompt()
  const error = { code: 'quota_reached', details: { quota: 'assets', limit: 0, used: 0 } }
  expect(await tenant.run(drawnAndSeen(painter, viewer), { prompt })).toMatchObject({ status: 'Failed', error })
  expect(await stack.provider.control.countCalls({ prompt })).toBe(0)
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  await expect.poll(worker.metrics, SOON).toMatch(/^worker_refusals_total\{code="quota_reached".*\} 1\b/m)
})

test('sends more images than fit into memory in sequence, unchanged', async ({
  startWorkerProcess,
  tenant,
  stack,
  store,
}) => {
  await startWorkerProcess({ MAX_CONCURRENT_IMAGE_BYTES: String(42 * MIB) })
  const model = await tenant.publish({ maxTokensPerImage: 100 })
  const pngs = Array.from({ length: 10 }, () => pngOf(5 * MIB))
  const prompt = newPrompt()
  await Promise.all(
    pngs.map(async (png, n) => {
      const record = await tenant.run(chatWithImage(model), { prompt: `${prompt} ${n}`, photo: await store(png) })
      expect(record).toMatchObject({ status: 'Succeeded' })
    }),
  )
  const seen = await stack.provider.control.calls({ prompt })
  expect(seen.flatMap(({ images }) => images).toSorted()).toEqual(pngs.map(digestOf).toSorted())
})

async function* single(bytes: Buffer) {
  yield bytes
}
