import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { MediaAnswer, MediaCall, MediaWish } from './media-port.ts'
import type { Providers } from './open-providers.ts'
import { failureOf, toBoth, toFirst, twoProviders } from './providers.fixture.ts'

const { first, second, failures, open } = await twoProviders()
const providers = open('openai-compatible')

const image: MediaWish = { kind: 'image', prompt: 'a harbour' }
const sound: MediaWish = { kind: 'audio', text: 'Good morning', voice: 'ada' }

/** Stores by gathering. */
function make(
  wish: MediaWish,
  more: Partial<MediaCall<Buffer>> = {},
  through: Providers = providers,
): Promise<MediaAnswer<Buffer>> {
  return through.media({ routes: toFirst, wish, maxBytes: 1_000_000, store: (bytes) => buffer(bytes), ...more })
}

test('an image comes as its bytes', async () => {
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

test('a provider that knows no response_format is not sent one', async () => {
  const plain = open('openai-compatible', { imageFormatField: false })
  expect((await make(image, {}, plain)).stored.length).toBeGreaterThan(100)
  const [call] = await first.control.calls()
  expect(JSON.parse(call!.body!)).toEqual({ model: 'sim-swift', prompt: 'a harbour', n: 1 })
})

test('a sound comes as its bytes, and with the voice that was asked for', async () => {
  const { stored } = await make(sound)
  expect(stored.subarray(0, 4).toString()).toBe('RIFF')
  expect(stored.readUInt32LE(40)).toBe(stored.length - 44)
  const [call] = await first.control.calls()
  expect(call?.path).toBe('/v1/audio/speech')
  expect(JSON.parse(call!.body!)).toMatchObject({ input: 'Good morning', voice: 'ada', response_format: 'wav' })
})

test('size, quality and format go to the provider in its words', async () => {
  const { stored } = await make({ ...image, size: '128x64', quality: 'high', format: 'png' })
  expect([stored.readUInt32BE(16), stored.readUInt32BE(20)]).toEqual([128, 64])
  const [drawn] = await first.control.calls()
  expect(JSON.parse(drawn!.body!)).toMatchObject({ size: '128x64', quality: 'high', output_format: 'png' })
  await make({ ...sound, format: 'wav' })
  const [, spoken] = await first.control.calls()
  expect(JSON.parse(spoken!.body!)).toMatchObject({ response_format: 'wav', voice: 'ada' })
})

describe('another provider is asked', () => {
  const broken = {
    'where the first is cut in the middle': { cut: { afterChunk: 1 } },
    'where the first ends too early': { cut: 'without-end-marker' },
    'where the first fails': { status: 500 },
    'where the first answers another type': { contentType: 'text/html' },
  } as const
  for (const [when, fault] of Object.entries(broken))
    test(`${when}, and nothing of what was stored is left`, async () => {
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

describe('an answer that is not what it should be is a failure', () => {
  const json = (body: object) => ({ status: 200, body, contentType: 'application/json' })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const answers: Record<string, [MediaWish, object, object]> = {
    'an image of no kind we keep': [
      image,
      json({ data: [{ b64_json: base64('GIF89a and then') }] }),
      { kind: 'garbage' },
    ],
    'a sound where an image was asked for': [
      image,
      json({ data: [{ b64_json: base64('RIFF....WAVEfmt ....') }] }),
      { kind: 'garbage' },
    ],
    'an address instead of an image': [image, json({ data: [{ url: 'https://example.com' }] }), { kind: 'garbage' }],
    'no image at all': [image, json({ data: [] }), { kind: 'garbage' }],
    'an empty image': [image, json({ data: [{ b64_json: '' }] }), { kind: 'garbage' }],
    'text that is not base64': [image, json({ data: [{ b64_json: 'iVBORw0KGgo*****' }] }), { kind: 'garbage' }],
    'an error inside': [image, json({ error: { code: 429 } }), { kind: 'refused', providerStatus: 429 }],
    'text where a sound was asked for': [
      sound,
      { status: 200, body: 'I cannot say that', contentType: 'audio/wav' },
      { kind: 'garbage' },
    ],
    'JSON where a sound was asked for': [sound, json({ error: { code: 500 } }), { kind: 'garbage' }],
  }
  test.each(Object.entries(answers))('%s', async (_, [wish, fault, failure]) => {
    await first.control.setFaults([fault])
    expect(await failureOf(make(wish))).toMatchObject(failure)
  })
})

test('more bytes than may be are not taken, as base64 and as they are', async () => {
  const { stored } = await make(image)
  expect((await make(image, { maxBytes: stored.length })).stored).toEqual(stored)
  expect(await failureOf(make(image, { maxBytes: stored.length - 1 }))).toMatchObject({ kind: 'too_large' })
  expect(await failureOf(make(sound, { maxBytes: 100 }))).toMatchObject({ kind: 'too_large' })
  await first.control.setFaults([{ oversizedBytes: 3_000_000 }])
  expect(await failureOf(make(image))).toMatchObject({ kind: 'garbage' }) // of what is around the image
  expect(await failureOf(make(sound))).toMatchObject({ kind: 'too_large' })
})

test('a stalled answer ends in time, and a call that is ended ends with its reason', async () => {
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

test('passes on the error of the store unchanged, without asking another provider', async () => {
  const full = new Error('the disk is full')
  const store = async (bytes: AsyncIterable<Buffer>): Promise<Buffer> => {
    for await (const _ of bytes) throw full
    throw new Error('there was nothing')
  }
  await expect(make(image, { routes: toBoth, store })).rejects.toBe(full)
  expect(await second.control.countCalls()).toBe(0)
  expect(failures).toEqual([])
})

test('a provider without words for it is passed over', async () => {
  expect(await failureOf(make(image, {}, open('anthropic')))).toMatchObject({ kind: 'refused', asked: false })
  expect(await first.control.countCalls()).toBe(0)
})
