import { describe, expect, test } from 'vitest'
import { eachImage, type ImageLimits, findImageError, takeImagesOut } from './images.ts'
import { readChatRequest } from './chat-request.ts'
import { Refusal } from './refusal.ts'

const dataOf = (bytes: number, type = 'png') => `data:image/${type};base64,${Buffer.alloc(bytes, 7).toString('base64')}`
const part = (url: string, more: object = {}) => ({ type: 'image_url', image_url: { url, ...more } })
const says = (text: string) => ({ type: 'text', text })
const read = (...content: object[]) =>
  readChatRequest({ model: 'acme/sage', messages: [{ role: 'user', content: [says('Look'), ...content] }] })

function refusalOf(work: () => unknown): Refusal {
  try {
    work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('an image of a chat', () => {
  test('is a data URL, an asset of the project or an https URL', () => {
    const urls = [dataOf(5), 'asset:ast_01ABC', 'https://example.test/a.png?b=c']
    const { images } = read(...urls.map((url) => part(url)))
    expect(images).toEqual([
      { kind: 'data', reference: 'image:0', url: urls[0], bytes: 5 },
      { kind: 'asset', reference: 'asset:ast_01ABC', asset: 'ast_01ABC' },
      { kind: 'https', reference: urls[2] },
    ])
  })

  test.for([
    'http://example.test/a.png',
    'https://user:secret@example.test/a.png',
    'https://',
    `https://example.test/${'x'.repeat(2_048)}`,
    'ftp://example.test/a.png',
    'file:///etc/passwd',
    'asset:',
    'asset:exe_01ABC',
    'asset:ast_../x',
    'image:0',
    'data:image/svg+xml;base64,AA==',
    'data:text/plain;base64,AA==',
    'data:image/png;base64,',
    'data:image/png;base64,not base64',
    'data:image/png;base64,AAA\u0141',
    'data:image/png,AA==',
  ])('is refused as %s [invalid_request]', (url) => {
    const { code, body } = refusalOf(() => read(part(url)))
    expect([code, body.param]).toEqual(['invalid_request', 'messages.0.content.1.image_url.url'])
  })

  test('counts towards the 128,000 bytes only with its placeholder, not its data', () => {
    const request = read(part(dataOf(3_000_000), { detail: 'low' }))
    expect(request.promptSize).toMatchObject({ images: 1, bytes: Buffer.byteLength(request.forwardedJson) })
    expect(request.promptSize.bytes).toBeLessThan(200)
    expect(refusalOf(() => read(part(dataOf(3_000_000)), says('x'.repeat(128_000)))).body.param).toBe('messages')
  })

  test('is refused beyond the hundredth of a request', () => {
    const many = (count: number) => Array.from({ length: count }, () => part('https://example.test/a.png'))
    expect(read(...many(100)).images).toHaveLength(100)
    expect(refusalOf(() => read(...many(101))).body.param).toBe('messages')
  })

  test('is restored unchanged at its position, next to any other content', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [part(dataOf(1)), says('image:0'), part(dataOf(2, 'gif'), { detail: 'high' })] },
      { role: 'assistant', content: null },
      { role: 'user', content: [part('asset:ast_1'), part('https://example.test/a.png')] },
    ] as never[]
    const { messages: short, images } = takeImagesOut(messages)
    expect(JSON.stringify(short)).not.toContain('base64')
    const urls = new Map(
      images.flatMap((image) => (image.kind === 'data' ? [[image.reference, image.url] as const] : [])),
    )
    expect(eachImage(short, (reference) => urls.get(reference) ?? reference)).toEqual(messages)
  })
})

describe('a product with image limits', () => {
  const limits: ImageLimits = { maxBytes: 1_000, maxCount: 2, https: false }
  const assets = new Map([
    ['ast_1', { id: 'ast_1', mimeType: 'image/png', bytes: 1_000 }],
    ['ast_2', { id: 'ast_2', mimeType: 'image/png', bytes: 1_001 }],
    ['ast_3', { id: 'ast_3', mimeType: 'audio/wav', bytes: 1 }],
  ])
  const imageError = (urls: string[], more: Partial<ImageLimits> = {}) =>
    findImageError(read(...urls.map((url) => part(url))).images, assets, { ...limits, ...more }, 'chat')?.body

  // spec: 2.3/s7
  test('accepts images at its maximum size and count', () => {
    expect(imageError([dataOf(1_000), 'asset:ast_1'])).toBeUndefined()
    expect(imageError(['https://example.test/a.png'], { https: true })).toBeUndefined()
  })

  test.for([
    ['one byte more', [dataOf(1_001)], '1001'],
    ['one byte more of an asset', ['asset:ast_2'], '1001'],
    ['one image more', [dataOf(1), dataOf(1), dataOf(1)], 'at most 2 images'],
    ['an address', ['https://example.test/a.png'], 'address'],
    ['a sound', ['asset:ast_3'], 'audio/wav'],
  ] as const)('refuses %s [invalid_request]', ([, urls, said]) => {
    const refused = imageError([...urls])!
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'messages' })
    expect(refused.message).toContain(said)
  })

  test('refuses an asset that the project does not have [asset_not_found]', () => {
    expect(imageError(['asset:ast_none'])).toMatchObject({ code: 'asset_not_found' })
  })

  test('accepts 15 MiB of images in total, and refuses one byte more [invalid_request]', () => {
    const half = 7_864_320
    const large = { maxBytes: 15_728_640 }
    expect(imageError([dataOf(half), dataOf(half)], large)).toBeUndefined()
    expect(imageError([dataOf(half), dataOf(half + 1)], large)).toMatchObject({ code: 'invalid_request' })
  })

  test('names the port in a refusal to a node', () => {
    const refused = findImageError(read(part(dataOf(1_001))).images, assets, limits, 'node')
    expect(refused!.body.param).toBe('image')
  })
})
