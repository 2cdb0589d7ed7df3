import { describe, expect, test } from 'vitest'
import { eachAttachment, type ImageLimits, findAttachmentError, takeAttachmentsOut } from './attachments.ts'
import { readChatRequest } from './chat-request.ts'
import { Refusal } from './refusal.ts'

const dataOf = (bytes: number, type = 'png') => `data:image/${type};base64,${Buffer.alloc(bytes, 7).toString('base64')}`
const part = (url: string, more: object = {}) => ({ type: 'image_url', image_url: { url, ...more } })
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`
const filePart = (url: string) => ({ type: 'file', file: { file_data: url, filename: 'a.pdf' } })
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
    const { attachments } = read(...urls.map((url) => part(url)))
    expect(attachments).toEqual([
      { part: 'image', kind: 'data', reference: 'image:0', url: urls[0], bytes: 5 },
      { part: 'image', kind: 'asset', reference: 'asset:ast_01ABC', asset: 'ast_01ABC' },
      { part: 'image', kind: 'https', reference: urls[2] },
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
    'data:application/pdf;base64,AA==',
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
    expect(read(...many(100)).attachments).toHaveLength(100)
    expect(refusalOf(() => read(...many(101))).body.param).toBe('messages')
  })

  test('is restored unchanged at its position, next to any other content', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [part(dataOf(1)), says('image:0'), part(dataOf(2, 'gif'), { detail: 'high' })] },
      { role: 'assistant', content: null },
      { role: 'user', content: [part('asset:ast_1'), filePart(PDF), part('https://example.test/a.png')] },
    ] as never[]
    const { messages: short, attachments } = takeAttachmentsOut(messages)
    expect(JSON.stringify(short)).not.toContain('base64')
    const urls = new Map(
      attachments.flatMap((each) => (each.kind === 'data' ? [[each.reference, each.url] as const] : [])),
    )
    expect(eachAttachment(short, (reference) => urls.get(reference) ?? reference)).toEqual(messages)
  })
})

describe('a file of a chat', () => {
  test('is a data URL of a PDF or an asset of the project, counted as a file', () => {
    const { attachments, promptSize, forwarded } = read(filePart(PDF), part(dataOf(1)), {
      type: 'file',
      file: { file_data: 'asset:ast_1' },
    })
    expect(attachments).toEqual([
      { part: 'file', kind: 'data', reference: 'file:0', url: PDF, bytes: 8 },
      { part: 'image', kind: 'data', reference: 'image:1', url: dataOf(1), bytes: 1 },
      { part: 'file', kind: 'asset', reference: 'asset:ast_1', asset: 'ast_1' },
    ])
    expect(promptSize).toMatchObject({ images: 1, files: 2 })
    expect(forwarded.messages[0]!.content).toMatchObject([
      says('Look'),
      filePart('file:0'),
      {},
      { file: { filename: 'document.pdf' } },
    ])
  })

  test.for(['https://example.test/a.pdf', 'JVBERi0xLjc=', 'data:text/plain;base64,AA==', 'asset:exe_1'])(
    'is refused as %s [invalid_request]',
    (url) => {
      const { code, body } = refusalOf(() => read(filePart(url)))
      expect([code, body.param]).toEqual(['invalid_request', 'messages.0.content.1.file.file_data'])
    },
  )

  test('that is an image is read as one', () => {
    const { attachments, promptSize, forwarded } = read(filePart(dataOf(5)))
    expect(attachments).toMatchObject([{ part: 'image', kind: 'data', bytes: 5 }])
    expect(promptSize).toMatchObject({ images: 1, files: 0 })
    expect(forwarded.messages[0]!.content).toEqual([says('Look'), part('image:0')])
  })

  test('is refused without its data, as clients refer to stored files [invalid_request]', () => {
    const { body } = refusalOf(() => read({ type: 'file', file: { file_id: 'file-1' } }))
    expect(body).toMatchObject({ param: 'messages.0.content.1.file.file_data' })
    expect(body.message).toContain('files are not stored by file_id')
  })

  test('is refused beyond the tenth of a request', () => {
    const many = (count: number) => Array.from({ length: count }, () => filePart(PDF))
    expect(read(...many(10)).attachments).toHaveLength(10)
    expect(refusalOf(() => read(...many(11))).body.param).toBe('messages')
  })

  test('is refused as an asset of another type [invalid_request, asset_not_found]', () => {
    const assets = new Map([
      ['ast_pdf', { id: 'ast_pdf', mimeType: 'application/pdf', bytes: 1_000 }],
      ['ast_png', { id: 'ast_png', mimeType: 'image/png', bytes: 1_000 }],
      ['ast_big', { id: 'ast_big', mimeType: 'application/pdf', bytes: 15_728_641 }],
    ])
    const refused = (id: string) =>
      findAttachmentError(read(filePart(`asset:${id}`)).attachments, assets, null, 'chat')?.body
    expect(refused('ast_pdf')).toBeUndefined()
    expect(refused('ast_png')).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('image/png') })
    expect(refused('ast_big')).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('15728640') })
    expect(refused('ast_none')).toMatchObject({ code: 'asset_not_found' })
  })
})

describe('a product with image limits', () => {
  const limits: ImageLimits = { maxBytes: 1_000, maxCount: 2, https: false }
  const assets = new Map([
    ['ast_1', { id: 'ast_1', mimeType: 'image/png', bytes: 1_000 }],
    ['ast_2', { id: 'ast_2', mimeType: 'image/png', bytes: 1_001 }],
    ['ast_3', { id: 'ast_3', mimeType: 'audio/wav', bytes: 1 }],
  ])
  const attachmentError = (urls: string[], more: Partial<ImageLimits> = {}) =>
    findAttachmentError(read(...urls.map((url) => part(url))).attachments, assets, { ...limits, ...more }, 'chat')?.body

  // spec: 2.3/s7
  test('accepts images at its maximum size and count', () => {
    expect(attachmentError([dataOf(1_000), 'asset:ast_1'])).toBeUndefined()
    expect(attachmentError(['https://example.test/a.png'], { https: true })).toBeUndefined()
  })

  test.for([
    ['one byte more', [dataOf(1_001)], '1001'],
    ['one byte more of an asset', ['asset:ast_2'], '1001'],
    ['one image more', [dataOf(1), dataOf(1), dataOf(1)], 'at most 2 images'],
    ['an address', ['https://example.test/a.png'], 'address'],
    ['a sound', ['asset:ast_3'], 'audio/wav'],
  ] as const)('refuses %s [invalid_request]', ([, urls, said]) => {
    const refused = attachmentError([...urls])!
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'messages' })
    expect(refused.message).toContain(said)
  })

  test('refuses an asset that the project does not have [asset_not_found]', () => {
    expect(attachmentError(['asset:ast_none'])).toMatchObject({ code: 'asset_not_found' })
  })

  test('accepts 15 MiB of images in total, and refuses one byte more [invalid_request]', () => {
    const half = 7_864_320
    const large = { maxBytes: 15_728_640 }
    expect(attachmentError([dataOf(half), dataOf(half)], large)).toBeUndefined()
    expect(attachmentError([dataOf(half), dataOf(half + 1)], large)).toMatchObject({ code: 'invalid_request' })
  })

  test('names the port in a refusal to a node', () => {
    const refused = findAttachmentError(read(part(dataOf(1_001))).attachments, assets, limits, 'node')
    expect(refused!.body.param).toBe('image')
  })
})
