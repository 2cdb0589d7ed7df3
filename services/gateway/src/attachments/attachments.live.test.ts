import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AssetValue } from '@gateway/api/execution'
import { modelEntry } from '@gateway/api/model-entry'
import { describe, expect } from 'vitest'
import { bodyOf, errorOf, newPrompt, stackTest } from '../stack.fixture.ts'

// Images and files in a direct chat (rules §3.11).

const MIB = 1024 * 1024
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const pngOf = (bytes: number) => Buffer.concat([PNG, randomBytes(bytes - PNG.length)])
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const dataOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`

const test = stackTest
  .extend('settings', { scope: 'file' }, () => ({ gateway: { MAX_CONCURRENT_IMAGE_BYTES: String(42 * MIB) } }))
  .extend('seeing', ({ tenant }) => tenant.sell({ maxTokensPerImage: 1_000 }))
  .extend(
    'look',
    ({ tenant, seeing }) =>
      (urls: string[], fields: object = {}, headers: Record<string, string> = {}) => {
        const images = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
        const content = [{ type: 'text', text: newPrompt() }, ...images]
        return tenant.chat({ model: seeing, messages: [{ role: 'user', content }], ...fields }, { headers })
      },
  )
  .extend('upload', ({ tenant }) => async (bytes: Buffer, type = 'image/png') => {
    const headers = { authorization: tenant.headers.authorization, 'content-type': type }
    const answer = await fetch(`${tenant.url}/v1/assets`, { method: 'POST', headers, body: new Uint8Array(bytes) })
    expect(answer.status).toBe(201)
    return ((await answer.json()) as AssetValue).asset
  })

const refusalOf = async (answer: Response) => {
  const { code, param } = await errorOf(answer)
  return [answer.status, code, param]
}

describe('an image in a chat', () => {
  test.for([20_000, 1_000_000, 5 * MIB])(
    'of %i bytes reaches the provider unchanged, from a data URL and from an asset',
    async (bytes, { tenant, look, upload, stack }) => {
      const png = pngOf(bytes)
      let charged = 0
      for (const url of [dataOf(png), `asset:${await upload(png)}`])
        for (const stream of [false, true]) {
          const answer = await look([url], { stream, max_tokens: 20 })
          expect(answer.status).toBe(200)
          await answer.text()
          const [call] = (await stack.provider.control.calls()).slice(-1)
          expect(call!.images).toEqual([digestOf(png)])
          charged = await tenant.settled()
        }
      expect(charged).toBeGreaterThan(0)
    },
  )

  test('reserves the maximum tokens per image of its product and nothing for its bytes', async ({
    tenant,
    look,
    stack,
  }) => {
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, hold: true }])
    const text = [{ type: 'text', text: prompt }]
    const image = { type: 'image_url', image_url: { url: dataOf(pngOf(1_000_000)) } }
    const reserved: number[] = []
    for (const content of [text, [...text, image]]) {
      const answer = look([], { max_tokens: 1, messages: [{ role: 'user', content }] })
      await stack.provider.control.waitForCalls(1, { prompt, outcome: 'open' })
      reserved.push((await tenant.wallet()).reserved)
      await stack.provider.control.release()
      expect((await answer).status).toBe(200)
      await tenant.settled()
    }
    const placeBytes = JSON.stringify({ ...image, image_url: { url: 'image:0' } }).length + 1
    expect(reserved[1]! - reserved[0]!).toBe(1_000 + placeBytes)
  })

  test('keeps its position among several images, including duplicates', async ({ look, upload, stack }) => {
    const [one, two] = [pngOf(9_000), pngOf(10_000)]
    const asset = `asset:${await upload(two)}`
    expect((await look([dataOf(one), asset, asset, dataOf(one)])).status).toBe(200)
    const [call] = (await stack.provider.control.calls()).slice(-1)
    expect(call!.images).toEqual([one, two, two, one].map(digestOf))
  })

  test('given as an https URL is passed to a model that accepts URLs, and the gateway never fetches it', async ({
    tenant,
    look,
    stack,
  }) => {
    const open = await tenant.sell({ maxTokensPerImage: 1_000, imageHttps: true })
    const url = `${stack.provider.url.replace('http:', 'https:')}/v1/never.png`
    expect((await look([url], { model: open })).status).toBe(200)
    const calls = await stack.provider.control.calls()
    expect(calls.map(({ path }) => path)).not.toContain('/v1/never.png')
    expect(JSON.parse(calls.at(-1)!.body!).messages[0].content[1]).toEqual({ type: 'image_url', image_url: { url } })
  })

  test('is part of the request under an idempotency key: the same image is replayed, another one refused', async ({
    look,
    tenant,
  }) => {
    const [first, second] = [dataOf(pngOf(1_500_000)), dataOf(pngOf(1_500_000))]
    const messages = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    const headers = { 'idempotency-key': newPrompt() }
    const { id } = await bodyOf(await look([], { messages: messages(first) }, headers))
    const charged = await tenant.settled()
    const again = await look([], { messages: messages(first) }, headers)
    expect([again.headers.get('idempotent-replayed'), (await bodyOf(again)).id]).toEqual(['true', id])
    expect(await refusalOf(await look([], { messages: messages(second) }, headers))).toEqual([
      422,
      'idempotency_mismatch',
      null,
    ])
    expect(await tenant.settled()).toBe(charged)
  })
})

describe('a file in a chat', () => {
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(20_000)])
  const fileOf = (url: string) => ({ type: 'file', file: { file_data: url, filename: 'terms.pdf' } })
  const inline = fileOf(`data:application/pdf;base64,${pdf.toString('base64')}`)
  const ask = (text: string, ...parts: object[]) => [{ role: 'user', content: [{ type: 'text', text }, ...parts] }]

  test('reaches the provider unchanged, from a data URL and from an asset', async ({ tenant, upload, stack }) => {
    const model = await tenant.sell({ takesFiles: true, contextLength: 20_000 })
    for (const part of [inline, fileOf(`asset:${await upload(pdf, 'application/pdf')}`)])
      for (const stream of [false, true]) {
        const messages = ask(newPrompt(), part)
        const answer = await tenant.chat({ model, stream, messages, max_tokens: 20 })
        expect(answer.status).toBe(200)
        await answer.text()
        const [call] = (await stack.provider.control.calls()).slice(-1)
        expect([call!.files, call!.images]).toEqual([[digestOf(pdf)], []])
        expect(JSON.parse(call!.body!).messages[0].content[1]).toEqual(inline)
      }
    expect(await tenant.settled()).toBeGreaterThan(4 * 1_500)
  })

  test('reserves the whole context of its product, and is charged what it used', async ({ tenant, stack }) => {
    const model = await tenant.sell({ takesFiles: true, contextLength: 30_000 })
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, hold: true }])
    const answer = tenant.chat({ model, messages: ask(prompt, inline), max_tokens: 10 })
    await stack.provider.control.waitForCalls(1, { prompt, outcome: 'open' })
    expect((await tenant.wallet()).reserved).toBe(30_000 + 2 * 10)
    await stack.provider.control.release()
    const { usage } = (await (await answer).json()) as { usage: { prompt_tokens: number; completion_tokens: number } }
    expect(usage.prompt_tokens).toBeGreaterThan(1_500)
    expect(await tenant.settled()).toBe(usage.prompt_tokens + 2 * usage.completion_tokens)
  })

  test('is refused by name for a model that takes none, and for an asset of another type [invalid_request]', async ({
    tenant,
    upload,
  }) => {
    const model = await tenant.sell({ takesFiles: true })
    const png = fileOf(`asset:${await upload(pngOf(100))}`)
    for (const [product, part, said] of [
      [tenant.model, inline, 'this model takes no files'],
      [model, png, 'image/png'],
      [model, { type: 'image_url', image_url: { url: dataOf(pngOf(100)) } }, 'this model takes no images'],
    ] as const) {
      const answer = await tenant.chat({ model: product, messages: ask(newPrompt(), part) })
      const { error } = (await answer.json()) as { error: { message: string; param: string } }
      expect([answer.status, error.param]).toEqual([400, 'messages'])
      expect(error.message).toContain(said)
    }
    const wallet = await tenant.wallet()
    expect(wallet).toEqual({ reserved: 0, settled: 0 })
  })

  test('is refused for a wallet that does not cover the context, with what it needs [insufficient_budget]', async ({
    tenant,
  }) => {
    const model = await tenant.sell({ takesFiles: true, contextLength: 1_200_000 })
    const answer = await tenant.chat({ model, messages: ask(newPrompt(), inline), max_tokens: 10 })
    const { error } = (await answer.json()) as { error: { code: string; details: { neededMicro: number } } }
    expect([error.code, error.details.neededMicro]).toEqual(['insufficient_budget', 1_200_020])
  })
})

test('a model entry has image limits only if the model accepts images', async ({ tenant }) => {
  const limited = { maxTokensPerImage: 7, imageMaxBytes: 9_000, imageMaxCount: 2, imageHttps: true }
  const entryOf = async (model: string) => {
    const answer = await fetch(`${tenant.url}/v1/models/${model}`, { headers: tenant.headers })
    return modelEntry.parse(await answer.json())
  }
  expect((await entryOf(await tenant.sell(limited))).image_input).toEqual({
    max_bytes: 9_000,
    max_count: 2,
    https: true,
  })
  expect(await entryOf(tenant.model)).not.toHaveProperty('image_input')
})

describe('a chat is refused before anything is reserved', () => {
  test('if an image exceeds the limits of the model or its asset is not found [invalid_request, asset_not_found]', async ({
    tenant,
    look,
    upload,
    stack,
    fixture,
  }) => {
    const before = await stack.provider.control.countCalls()
    const small = await tenant.sell({ maxTokensPerImage: 1_000, imageMaxBytes: 9_000, imageMaxCount: 2 })
    const theirs = await fixture.project(tenant.owners)
    const foreign = await upload(pngOf(100))
    await fixture.run('UPDATE money.assets SET project = $2 WHERE id = $1', [foreign, theirs.id])
    const sound = await upload(Buffer.from('RIFF\x24\0\0\0WAVEfmt and so on', 'latin1'), 'audio/wav')
    const fits = dataOf(pngOf(9_000))
    for (const [urls, refused, model] of [
      [[dataOf(pngOf(9_001))], [400, 'invalid_request', 'messages'], small],
      [[`asset:${await upload(pngOf(9_001))}`], [400, 'invalid_request', 'messages'], small],
      [[fits, fits, fits], [400, 'invalid_request', 'messages'], small],
      [['https://example.test/a.png'], [400, 'invalid_request', 'messages'], small],
      [[`asset:${sound}`], [400, 'invalid_request', 'messages'], small],
      [[`asset:${foreign}`], [404, 'asset_not_found', null], small],
      [['asset:ast_never'], [404, 'asset_not_found', null], small],
      [[fits], [400, 'invalid_request', 'messages'], tenant.model],
      [[dataOf(pngOf(9_001))], [404, 'model_not_found', 'model'], 'acme/none'],
    ] as const)
      expect([urls.join().slice(0, 40), ...(await refusalOf(await look([...urls], { model })))]).toEqual([
        urls.join().slice(0, 40),
        ...refused,
      ])
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
    expect(await stack.provider.control.countCalls()).toBe(before)
  })

  test('if the bytes of an image asset are lost [asset_not_found]', async ({ tenant, look, fixture }) => {
    const lost = fixture.id('ast')
    await fixture.run(`INSERT INTO money.assets (id, project, mime_type, bytes) VALUES ($1, $2, 'image/png', 100)`, [
      lost,
      tenant.project,
    ])
    expect(await refusalOf(await look([`asset:${lost}`]))).toEqual([404, 'asset_not_found', null])
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  test('if its key is revoked, before its images are read [key_revoked, key_invalid]', async ({ tenant }) => {
    const { secret } = await tenant.key({ revoked: true })
    const { hostname, port } = new URL(tenant.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${secret}\r\nContent-Length: ${20 * MIB}\r\n\r\n{`,
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1.1 401 [^]*"code":"key_revoked"/)
    socket.destroy()
  })
})

test('concurrent calls with large images share the image memory limit: each is served or gets a retryable 503 [overloaded]', async ({
  look,
  tenant,
  stack,
}) => {
  const pngs = Array.from({ length: 12 }, () => pngOf(4 * MIB))
  const answers = await Promise.all(
    pngs.map(async (png) => {
      const answer = await look([dataOf(png)], { max_tokens: 5 })
      const said = (await answer.json()) as { error?: { code: string } }
      return { status: answer.status, code: said.error?.code, retryAfter: answer.headers.get('retry-after') }
    }),
  )
  for (const { status, code, retryAfter } of answers)
    if (status !== 200) expect([status, code, retryAfter]).toEqual([503, 'overloaded', expect.stringMatching(/^\d+$/)])
  const served = answers.filter(({ status }) => status === 200).length
  expect(served).toBeGreaterThan(1)
  const seen = (await stack.provider.control.calls()).flatMap(({ images }) => images)
  expect(seen.filter((digest) => pngs.some((png) => digestOf(png) === digest))).toHaveLength(served)
  await tenant.settled()
  const memory = async () => {
    const metrics = await (await fetch(`${tenant.metricsUrl}/metrics`)).text()
    return /^gateway_images_memory\S* (\d+)/m.exec(metrics)?.[1]
  }
  await expect.poll(memory).toBe('0')
  expect((await look([dataOf(pngOf(5 * MIB))])).status).toBe(200) // the memory was released in full
})
