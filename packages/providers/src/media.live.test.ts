import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { MediaAnswer, MediaCall, MediaWish } from './provider-adapter.ts'
import type { Providers } from './open-providers.ts'
import { failureOf, toBoth, toFirst, twoProviders } from './providers.fixture.ts'

const { first, second, failures, open } = await twoProviders()
const providers = open('openai-compatible')

const image: MediaWish = { kind: 'image', prompt: 'a harbour' }
const sound: MediaWish = { kind: 'audio', text: 'Good morning', voice: 'ada' }

/** Requests media and stores it in a buffer. */
function make(
  wish: MediaWish,
  more: Partial<MediaCall<Buffer>> = {},
  through: Providers = providers,
): Promise<MediaAnswer<Buffer>> {
  return through.media({
    routes: toFirst,
    project: 'prj_1',
    wish,
    maxBytes: 1_000_000,
    store: (bytes) => buffer(bytes),
    ...more,
  })
}

test('returns an image as bytes', async () => {
  const { stored } = await make(image)
  expect(stored.subarray(1, 4).toString()).toBe('PNG')
  expect([stored.readUInt32BE(16), stored.readUInt32BE(20)]).toEqual([256, 256])
  const [call] = await first.control.calls()
  expect(JSON.parse(call!.body!)).toEqual({
    model: 'sim-swift',
    prompt: 'a harbour',
    n: 1,
    response_format: 'b64_json',
  })
})

test('omits response_format if imageFormatField is false', async () => {
  const plain = open('openai-compatible', { imageFormatField: false })
  expect((await make(image, {}, plain)).stored.length).toBeGreaterThan(100)
  const [call] = await first.control.calls()
  expect(JSON.parse(call!.body!)).toEqual({ model: 'sim-swift', prompt: 'a harbour', n: 1 })
})

test('returns audio as bytes, in the requested voice', async () => {
  const { stored } = await make(sound)
  expect(stored.subarray(0, 4).toString()).toBe('RIFF')
  expect(stored.readUInt32LE(40)).toBe(stored.length - 44)
  const [call] = await first.control.calls()
  expect(call?.path).toBe('/v1/audio/speech')
  expect(JSON.parse(call!.body!)).toMatchObject({ input: 'Good morning', voice: 'ada', response_format: 'wav' })
})

test('sends size, quality and format under the names of the provider', async () => {
  const { stored } = await make({ ...image, size: '128x64', quality: 'high', format: 'png' })
  expect([stored.readUInt32BE(16), stored.readUInt32BE(20)]).toEqual([128, 64])
  const [drawn] = await first.control.calls()
  expect(JSON.parse(drawn!.body!)).toMatchObject({ size: '128x64', quality: 'high', output_format: 'png' })
  await make({ ...sound, format: 'wav' })
  const [, spoken] = await first.control.calls()
  expect(JSON.parse(spoken!.body!)).toMatchObject({ response_format: 'wav', voice: 'ada' })
})

describe('tries another provider', () => {
  const broken = {
    'if the first is cut mid-response': { cut: { afterChunk: 1 } },
    'if the first ends too early': { cut: 'without-end-marker' },
    'if the first fails': { status: 500 },
    'if the first returns another content type': { contentType: 'text/html' },
  } as const
  for (const [when, fault] of Object.entries(broken))
    test(`${when}, and leaves nothing stored of the failed attempt`, async () => {
      await first.control.setFaults([fault])
      let kept = 0
      const store = async (bytes: AsyncIterable<Buffer>) => {
        kept++
        try {
          return await buffer(bytes)
        } catch (error) {
          kept--
          throw error
        }
      }
      const { stored, route } = await make(image, { routes: toBoth, store })
      expect(route.provider).toBe('second')
      expect(stored.subarray(1, 4).toString()).toBe('PNG')
      expect(kept).toBe(1)
      expect(failures).toHaveLength(1)
    })
})

describe('fails on', () => {
  const json = (body: object) => ({ status: 200, body, contentType: 'application/json' })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const answers: Record<string, [MediaWish, object, object]> = {
    'an image of an unsupported type': [
      image,
      json({ data: [{ b64_json: base64('GIF89a and then') }] }),
      { kind: 'garbage' },
    ],
    'audio in place of an image': [
      image,
      json({ data: [{ b64_json: base64('RIFF....WAVEfmt ....') }] }),
      { kind: 'garbage' },
    ],
    'a URL in place of an image': [image, json({ data: [{ url: 'https://example.com' }] }), { kind: 'garbage' }],
    'an empty list of images': [image, json({ data: [] }), { kind: 'garbage' }],
    'an empty image': [image, json({ data: [{ b64_json: '' }] }), { kind: 'garbage' }],
    'invalid base64': [image, json({ data: [{ b64_json: 'iVBORw0KGgo*****' }] }), { kind: 'garbage' }],
    'an error body with status 200': [image, json({ error: { code: 429 } }), { kind: 'refused', providerStatus: 429 }],
    'text in place of audio': [
      sound,
      { status: 200, body: 'I cannot say that', contentType: 'audio/wav' },
      { kind: 'garbage' },
    ],
    'JSON in place of audio': [sound, json({ error: { code: 500 } }), { kind: 'garbage' }],
  }
  test.each(Object.entries(answers))('%s', async (_, [wish, fault, failure]) => {
    await first.control.setFaults([fault])
    expect(await failureOf(make(wish))).toMatchObject(failure)
  })
})

test('fails if the media exceeds maxBytes, as base64 or raw', async () => {
  const { stored } = await make(image)
  expect((await make(image, { maxBytes: stored.length })).stored).toEqual(stored)
  expect(await failureOf(make(image, { maxBytes: stored.length - 1 }))).toMatchObject({ kind: 'too_large' })
  expect(await failureOf(make(sound, { maxBytes: 100 }))).toMatchObject({ kind: 'too_large', limitBytes: 100 })
  await first.control.setFaults([{ oversizedBytes: 3_000_000 }])
  expect(await failureOf(make(image))).toMatchObject({ kind: 'garbage' }) // too much JSON around the image
  expect(await failureOf(make(sound))).toMatchObject({ kind: 'too_large' })
})

test('times out a stalled response, and rejects an aborted call with its reason', async () => {
  await first.control.setFaults([{ stall: { afterChunk: 1 } }])
  const hasty = open('openai-compatible', { idleMs: 50 })
  expect(await failureOf(make(sound, {}, hasty))).toMatchObject({ kind: 'timeout' })

  const ending = new AbortController()
  const reason = new Error('enough')
  const call = make(sound, { signal: ending.signal })
  await first.control.waitForCalls(1, { outcome: 'open' })
  ending.abort(reason)
  await expect(call).rejects.toBe(reason)
})

test('rejects with the error of the store unchanged, without trying another provider', async () => {
  const full = new Error('the disk is full')
  const store = async (bytes: AsyncIterable<Buffer>): Promise<Buffer> => {
    for await (const _ of bytes) throw full
    throw new Error('there was nothing')
  }
  await expect(make(image, { routes: toBoth, store })).rejects.toBe(full)
  expect(await second.control.countCalls()).toBe(0)
  expect(failures).toEqual([])
})

test('skips a provider whose wire format has no media', async () => {
  expect(await failureOf(make(image, {}, open('anthropic')))).toMatchObject({ kind: 'refused', asked: false })
  expect(await first.control.countCalls()).toBe(0)
})
