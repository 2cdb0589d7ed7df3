import { request } from 'node:http'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import type { AssetValue } from '@gateway/api/execution'
import { mediaTypeOf } from '@gateway/api/media-type'
import { describe, expect } from 'vitest'
import { draw, flowTest, newKey, PNG, PROGRESS, recordOf, sameImage, echo } from '../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../stack.fixture.ts'

const test = flowTest.extend('image', async ({ flows }) => {
  const answer = await flows.upload(PNG, 'image/png')
  expect(answer.status).toBe(201)
  return (await answer.json()) as AssetValue
})
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

const WAV = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVE', 'latin1'), Buffer.alloc(100)])

describe('an uploaded file', () => {
  test('gets an asset ID and downloads unchanged', async ({ flows, image }) => {
    expect(image).toEqual({ asset: expect.stringMatching(/^ast_/) as string, mimeType: 'image/png', bytes: PNG.length })
    const answer = await flows.get(`/v1/assets/${image.asset}`)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
    expect(await bytesOf(answer)).toEqual(PNG)
  })

  test('may be WAV audio under any of its content types', async ({ flows }) => {
    for (const type of ['audio/wav', 'audio/x-wav', 'Audio/Wave; codecs=1'])
      expect(await (await flows.upload(WAV, type)).json()).toMatchObject({ mimeType: 'audio/wav', bytes: WAV.length })
  })

  test('is refused if its content does not match its Content-Type [invalid_request]', async ({ flows }) => {
    for (const [bytes, type] of [
      [PNG, 'image/jpeg'],
      [PNG, 'application/octet-stream'],
      [PNG, ''],
      [Buffer.from('GIF89a and so on and on'), 'image/png'],
      [Buffer.alloc(0), 'image/png'],
      [PNG.subarray(0, 8), 'image/png'],
    ] as [Buffer<ArrayBuffer>, string][]) {
      const answer = await flows.upload(bytes, type)
      expect([type, answer.status]).toEqual([type, 400])
      expect(await errorOf(answer)).toMatchObject({ code: 'invalid_request', param: 'Content-Type' })
    }
  })

  test('is accepted at 25 MB and refused one byte above, before it is fully read [request_too_large]', async ({
    tenant,
    flows,
  }) => {
    const most = Buffer.concat([PNG, Buffer.alloc(25_000_000 - PNG.length)])
    expect(await (await flows.upload(most, 'image/png')).json()).toMatchObject({ bytes: 25_000_000 })

    const headers = { authorization: tenant.headers.authorization, 'content-type': 'image/png' }
    const send = (more: Record<string, string>) =>
      request(`${tenant.url}/v1/assets`, { method: 'POST', agent: false, headers: { ...headers, ...more } })
    const declared = send({ 'content-length': '25000001' })
    declared.flushHeaders() // but not a byte of the body
    await expectTooLarge(declared)
    declared.destroy()
    const unsaid = send({ 'transfer-encoding': 'chunked' })
    unsaid.write(most)
    unsaid.write('x') // without ending the body
    await expectTooLarge(unsaid)
    unsaid.destroy()
  })

  test('is not stored when the caller disconnects during the upload', async ({ tenant, fixture }) => {
    const req = request(`${tenant.url}/v1/assets`, {
      method: 'POST',
      agent: false,
      headers: { authorization: tenant.headers.authorization, 'content-type': 'image/png', 'content-length': '5000' },
    })
    req.on('error', () => {})
    const closed = new Promise((resolve) => req.once('close', resolve))
    req.write(PNG, () => req.destroy())
    await closed
    const { rows } = await fixture.run('SELECT FROM money.assets WHERE project = $1', [tenant.project])
    expect(rows).toEqual([])
  })
})

describe('a byte range of a file', () => {
  test('is returned for a single satisfiable Range [range_not_satisfiable]', async ({ flows, image }) => {
    const path = `/v1/assets/${image.asset}`
    for (const [range, first, last] of [
      ['bytes=0-7', 0, 7],
      ['bytes=1000-', 1000, PNG.length - 1],
      ['bytes=-4', PNG.length - 4, PNG.length - 1],
    ] as const) {
      const answer = await flows.get(path, { range })
      expect(answer.status).toBe(206)
      expect(answer.headers.get('content-range')).toBe(`bytes ${first}-${last}/${PNG.length}`)
      expect(await bytesOf(answer)).toEqual(PNG.subarray(first, last + 1))
    }
    for (const headers of [
      { range: 'bytes=0-1,5-6' },
      { range: 'lines=1-2' },
      { range: 'bytes=0-1', 'if-range': '"x"' },
    ]) {
      const answer = await flows.get(path, headers)
      expect(answer.status).toBe(200)
      expect(await bytesOf(answer)).toEqual(PNG)
    }
    const beyond = await flows.get(path, { range: `bytes=${PNG.length}-` })
    expect(beyond.status).toBe(416)
    expect(beyond.headers.get('content-range')).toBe(`bytes */${PNG.length}`)
    expect(await errorOf(beyond)).toMatchObject({ code: 'range_not_satisfiable' })
  })

  test('is ignored on HEAD', async ({ tenant, image }) => {
    const { authorization } = tenant.headers
    const answer = await fetch(`${tenant.url}/v1/assets/${image.asset}`, {
      method: 'HEAD',
      headers: { authorization, range: 'bytes=0-7' },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-length')).toBe(String(PNG.length))
    expect(await answer.text()).toBe('')
  })
})

test('an asset whose bytes are gone gets the same code as an unknown ID [asset_not_found]', async ({
  tenant,
  stack,
  flows,
  image,
}) => {
  await rm(path.join(stack.folder, 'assets', tenant.project, image.asset))
  const answer = await flows.get(`/v1/assets/${image.asset}`)
  expect([answer.status, (await errorOf(answer))['code']]).toEqual([404, 'asset_not_found'])
})

test('an asset store that fails is logged once, with its cause [unavailable]', async ({
  tenant,
  stack,
  flows,
  image,
}) => {
  const folder = path.join(stack.folder, 'assets', tenant.project)
  await rm(folder, { recursive: true })
  await writeFile(folder, '') // a file in its place: no asset can be opened or stored
  const answers = [await flows.get(`/v1/assets/${image.asset}`), await flows.upload(PNG, 'image/png')]
  for (const answer of answers) expect([answer.status, (await errorOf(answer))['code']]).toEqual([503, 'unavailable'])
  const lines = async () =>
    (await readFile(stack.gateways[0]!.logFile, 'utf8'))
      .split('\n')
      .filter((line) => line.includes('asset store failed'))
  await expect.poll(lines).toEqual([expect.stringMatching(/"level":"warn".*ENOTDIR/)])
})

describe('an invocation whose output is one image', () => {
  // spec: 4.3/s13
  test('returns the image bytes if Accept names no content type', async ({ flows, image, onTestFinished }) => {
    const warnings: string[] = []
    const warn = ({ name }: Error) => void warnings.push(name)
    process.on('warning', warn)
    onTestFinished(() => void process.off('warning', warn))
    const sandbox = await flows.save(sameImage)
    const key = newKey()
    for (const [accept, replayed] of [
      ['*/*', null],
      ['', 'true'],
    ] as const) {
      const answer = await flows.invoke(sandbox, { picture: image }, { headers: { accept, 'idempotency-key': key } })
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
        'x-service-invocation': expect.stringMatching(/^exe_/) as string,
      })
      expect(answer.headers.get('idempotent-replayed')).toBe(replayed)
      expect(await bytesOf(answer)).toEqual(PNG)
    }
    expect(warnings).toEqual([]) // of listeners: a response has its own, and a pipeline adds seven
    expect(await flows.executions()).toBe(1)
  })

  // spec: 4.3/s15
  test('is charged once whether it returns the image or the record', async ({ tenant, flows }) => {
    const painter = await tenant.sell({ kind: 'image', requestPico: 40_000_000_000n })
    const sandbox = await flows.save(draw(painter))
    const ask = (accept: string) =>
      flows.invoke(sandbox, { text: 'Hills' }, { headers: { accept, 'idempotency-key': 'picture-of-hills' } })
    const drawn = await bytesOf(await ask('*/*'))
    expect(mediaTypeOf(drawn)).toBe('image/png')
    const record = await recordOf(await ask('application/json'))
    const { picture } = record.output as { picture: AssetValue }
    expect(picture).toMatchObject({ mimeType: 'image/png', bytes: drawn.length })
    expect(await bytesOf(await flows.get(`/v1/assets/${picture.asset}`))).toEqual(drawn)
    expect(record.chargedMicro).toBe(40_000)
    expect(await tenant.settled()).toBe(40_000)
  })

  // spec: 4.3/s13
  test('returns the requested range of the image, or 416 [range_not_satisfiable]', async ({ flows, image }) => {
    const sandbox = await flows.save(sameImage)
    const ask = (range: string) =>
      flows.invoke(sandbox, { picture: { asset: image.asset } }, { headers: { accept: '*/*', range } })
    const part = await ask('bytes=0-7')
    expect(part.status).toBe(206)
    expect(await bytesOf(part)).toEqual(PNG.subarray(0, 8))
    const beyond = await ask(`bytes=${PNG.length}-`)
    expect(beyond.status).toBe(416)
    expect(beyond.headers.get('x-service-invocation')).toMatch(/^exe_/)
    expect(await errorOf(beyond)).toMatchObject({ code: 'range_not_satisfiable' })
  })

  // spec: 4.3/s14
  test('returns its record if Accept names a content type, and its progress if it names application/x-ndjson', async ({
    flows,
    image,
  }) => {
    const sandbox = await flows.save(sameImage)
    for (const accept of ['application/json', 'image/png', 'image/*', '*/*, image/png']) {
      const answer = await flows.invoke(sandbox, { picture: image }, { headers: { accept } })
      expect(await recordOf(answer)).toMatchObject({ status: 'Succeeded', output: { picture: image } })
    }
    const answer = await flows.invoke(sandbox, { picture: image }, { headers: PROGRESS })
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    await answer.text()
  })

  // spec: 4.3/s14
  test('returns its record if the output is not exactly one image, or the image is no longer in the project', async ({
    tenant,
    fixture,
    flows,
    image,
  }) => {
    const headers = { accept: '*/*' }
    const text = await flows.invoke(await flows.save(echo), { text: 'a' }, { headers })
    expect(await recordOf(text)).toMatchObject({ output: { text: 'a' } })

    const likeness = await flows.save({
      ...sameImage,
      input: { type: 'object', properties: { picture: { type: 'object' } } },
      output: { type: 'object', properties: { picture: { type: 'object' } } },
    })
    // The contract declares any object, although this value looks like an image and is an asset of the project.
    expect(await recordOf(await flows.invoke(likeness, { picture: image }, { headers }))).toMatchObject({
      output: { picture: image },
    })

    const other = await flows.save({
      ...sameImage,
      output: { ...sameImage.output, properties: { ...sameImage.output.properties, caption: { type: 'string' } } },
    })
    expect(await recordOf(await flows.invoke(other, { picture: image }, { headers }))).toMatchObject({
      output: { picture: image },
    })

    const sandbox = await flows.save(sameImage)
    const lost = { ...headers, 'idempotency-key': newKey() }
    expect(await bytesOf(await flows.invoke(sandbox, { picture: image }, { headers: lost }))).toEqual(PNG)
    const neighbours = await fixture.project(tenant.owners)
    await fixture.run('UPDATE money.assets SET project = $2 WHERE id = $1', [image.asset, neighbours.id])
    expect(await recordOf(await flows.invoke(sandbox, { picture: image }, { headers: lost }))).toMatchObject({
      status: 'Succeeded',
    })
  })

  // spec: 4.3/s14
  test('returns its record if it failed [provider_failed]', async ({ stack, tenant, flows }) => {
    const sandbox = await flows.save(draw(await tenant.sell({ kind: 'image', requestPico: 40_000_000_000n })))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, status: 500 }])
    const answer = await flows.invoke(sandbox, { text }, { headers: { accept: '*/*' } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await recordOf(answer)).toMatchObject({ status: 'Failed', error: { code: 'provider_failed' } })
  })

  test('rejects an image of another project as input [input_type]', async ({ tenant, fixture, flows, image }) => {
    const neighbours = await fixture.project(tenant.owners)
    const theirs = await fixture.sandbox(neighbours, sameImage)
    const { secret } = await fixture.key({ project: neighbours, by: tenant.owners.owner })
    const answer = await flows.invoke(theirs.id, { picture: image }, { headers: { authorization: `Bearer ${secret}` } })
    expect(answer.status).toBe(422)
    expect(await errorOf(answer)).toMatchObject({ code: 'input_type' })
  })
})

async function expectTooLarge(req: ReturnType<typeof request>): Promise<void> {
  const [answer] = (await once(req, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(413)
  expect(await json(answer)).toMatchObject({ error: { code: 'request_too_large' } })
}

test('what an execution outside the list of a key has made is not found by it [asset_not_found]', async ({
  tenant,
  fixture,
  flows,
}) => {
  const canvas = await tenant.sell({ kind: 'image' })
  const sandbox = await flows.save(draw(canvas))
  const record = await recordOf(await flows.invoke(sandbox, { text: newPrompt() }))
  const { asset } = record.output!['picture'] as AssetValue
  const uploaded = ((await (await flows.upload(PNG, 'image/png')).json()) as AssetValue).asset
  const listing = await tenant.key({ policy: 'listed', resources: [sandbox, canvas] })
  const other = await tenant.key({ policy: 'listed', resources: [canvas] })
  const read = async (secret: string, id: string) =>
    (await flows.get(`/v1/assets/${id}`, { authorization: `Bearer ${secret}` })).status
  const readByAll = () =>
    Promise.all([tenant.secret, listing.secret, other.secret].map((secret) => read(secret, asset)))
  expect(await readByAll()).toEqual([200, 200, 404])
  expect(await read(other.secret, uploaded)).toBe(200)
  await fixture.run('DELETE FROM money.executions WHERE id = $1', [record.id])
  expect(await readByAll()).toEqual([200, 200, 404])
})

test('what an execution outside the list of a key has made cannot be named in its calls [asset_not_found] [input_type]', async ({
  tenant,
  flows,
}) => {
  const canvas = await tenant.sell({ kind: 'image' })
  const seeing = await tenant.sell({ maxTokensPerImage: 1_000 })
  const [drawing, copying] = [await flows.save(draw(canvas)), await flows.save(sameImage)]
  const record = await recordOf(await flows.invoke(drawing, { text: newPrompt() }))
  const picture = record.output!['picture'] as AssetValue
  const uploaded = (await (await flows.upload(PNG, 'image/png')).json()) as AssetValue
  const listing = await tenant.key({ policy: 'listed', resources: [drawing, canvas, copying, seeing] })
  const other = await tenant.key({ policy: 'listed', resources: [copying, seeing] })
  const name = async (secret: string, { asset }: AssetValue) => {
    const headers = { authorization: `Bearer ${secret}` }
    const content = [
      { type: 'text', text: newPrompt() },
      { type: 'image_url', image_url: { url: `asset:${asset}` } },
    ]
    const answers = [
      await tenant.chat({ model: seeing, messages: [{ role: 'user', content }] }, { headers }),
      await flows.invoke(copying, { picture: { asset } }, { headers }),
    ]
    return Promise.all(answers.map(async (answer) => (answer.ok ? 'ok' : (await errorOf(answer))['code'])))
  }
  expect(await name(listing.secret, picture)).toEqual(['ok', 'ok'])
  expect(await name(other.secret, uploaded)).toEqual(['ok', 'ok'])
  expect(await name(other.secret, picture)).toEqual(['asset_not_found', 'input_type'])
})
