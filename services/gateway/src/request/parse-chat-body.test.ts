import fc from 'fast-check'
import { readChatRequest } from '@gateway/api/chat-request'
import { Refusal } from '@gateway/api/refusal'
import { chatWire } from '@gateway/api/wires/chat/chat-wire'
import { describe, expect, inject, test } from 'vitest'
import { parseChatBody } from './read-chat.ts'

const TEXT_BYTES = 512 * 1024
const dataOf = (bytes: number) => `data:image/png;base64,${Buffer.alloc(bytes, 255).toString('base64')}`
const parse = async (text: string) => (await parseChatBody(chatWire, Buffer.from(text))).value

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return error instanceof Refusal ? error.code : String(error)
  }
}

/** Parses JSON. Returns undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

describe('parseChatBody', () => {
  test('parses image data anywhere in the body', async () => {
    const [one, two] = [dataOf(300_000), dataOf(2_000_000)]
    const body = { messages: [{ content: [{ url: one }, { url: two }, { text: one }] }], deep: { two } }
    expect(await parse(JSON.stringify(body))).toEqual(body)
    expect(await parse(JSON.stringify(body).replaceAll('/', '\\/'))).toEqual(body) // as PHP writes it
  })

  test('parses strings that quote or resemble image data', async () => {
    const image = dataOf(10_000)
    for (const text of [`say "${image}"`, `\\"${image}`, `${image} and more`, `${image}\n`, `${image.slice(0, -8)}é`])
      expect(await parse(JSON.stringify({ text }))).toEqual({ text })
    const escaped = `{"url":"${image.replace('png', 'pn\\u0067')}"}`
    expect(await parse(escaped)).toEqual({ url: image })
  })

  test('parses fields of any name, including __proto__ and image data', async () => {
    const image = dataOf(10_000)
    const parsed = (await parse(`{"__proto__":"${image}","a":{"constructor":"${image}"}}`)) as Record<string, unknown>
    expect(Object.keys(parsed)).toEqual(['__proto__', 'a'])
    expect(JSON.stringify(parsed)).toBe(`{"__proto__":"${image}","a":{"constructor":"${image}"}}`)
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    const named = JSON.stringify({ properties: { [image]: { type: 'string' } }, url: image }).replace(
      '":{"t',
      '" :\n{"t',
    )
    expect(JSON.stringify(await parse(named))).toBe(JSON.stringify(JSON.parse(named)))
  })

  test('allows 512 KiB in addition to image data and refuses more [request_too_large]', async () => {
    const url = dataOf(3_000_000)
    const around = JSON.stringify({ url: '', text: '' }).length
    const body = (bytes: number) => JSON.stringify({ url, text: 'x'.repeat(bytes) })
    // A short placeholder replaces the image while the rest is measured.
    expect(await parse(body(TEXT_BYTES - around - 100))).toMatchObject({ url })
    expect(await codeOf(() => parse(body(TEXT_BYTES)))).toBe('request_too_large')
    expect(await codeOf(() => parse(' '.repeat(TEXT_BYTES + 1)))).toBe('request_too_large')
    expect(await codeOf(() => parse(JSON.stringify({ url: `${url}!` })))).toBe('request_too_large') // not base64: text
  })

  test('keeps the data of the images of messages apart, for the request and for its fingerprint', async () => {
    const [one, two] = [dataOf(300_000), dataOf(300_001)]
    const image = (url: string) => ({ type: 'image_url', image_url: { url } })
    const bodyOf = (...urls: string[]) => ({
      model: 'm',
      messages: [{ role: 'user', content: urls.map(image) }],
      metadata: { copy: one },
    })
    const { value, data: images } = await parseChatBody(chatWire, Buffer.from(JSON.stringify(bodyOf(one, two))))
    expect(JSON.stringify(value).length).toBeLessThan(one.length + 1_000)
    expect(value).toMatchObject({ metadata: { copy: one } })
    expect([...images.values()]).toEqual([one, two])
    const { attachments } = readChatRequest(value, images)
    expect(attachments).toEqual([
      { part: 'image', kind: 'data', reference: 'image:0', url: one, bytes: 300_000 },
      { part: 'image', kind: 'data', reference: 'image:1', url: two, bytes: 300_001 },
    ])
  })

  test('keeps the data of files apart', async () => {
    const pdf = dataOf(300_000).replace('image/png', 'application/pdf')
    const messages = [{ role: 'user', content: [{ type: 'file', file: { file_data: pdf, filename: 'a.pdf' } }] }]
    const { value, data } = await parseChatBody(chatWire, Buffer.from(JSON.stringify({ model: 'm', messages })))
    expect(JSON.stringify(value).length).toBeLessThan(1_000)
    expect(readChatRequest(value, data).attachments).toEqual([
      { part: 'file', kind: 'data', reference: 'file:0', url: pdf, bytes: 300_000 },
    ])
  })

  test('cuts out base64 in fields named data, on a wire that has images there', async () => {
    const base64 = dataOf(300_000).split(',')[1]!
    const placesOf = function* (value: unknown) {
      yield (value as { image: { data: string } }).image.data
    }
    const body = {
      image: { data: base64 },
      other: { data: base64 },
      short: { data: 'AAAA' },
      text: `"data":"${base64.slice(0, 50_000)}"`,
    }
    for (const text of [
      JSON.stringify(body),
      JSON.stringify(body, null, 2),
      JSON.stringify(body).replaceAll('/', '\\/'),
    ]) {
      const { value, data: images } = await parseChatBody({ dataForm: 'base64', dataOf: placesOf }, Buffer.from(text))
      const [[place, data] = []] = [...images]
      expect(data).toBe(base64)
      expect(value).toEqual({ ...body, image: { data: place } })
      expect(place!.length).toBeLessThan(100)
    }
  })

  test('ends the search for image data where the rest exceeds the limit of text [request_too_large]', async () => {
    expect(await codeOf(() => parse('"data:image'.repeat(1_000_000)))).toBe('request_too_large')
  })

  test('refuses invalid JSON [invalid_json]', async () => {
    const image = dataOf(10_000)
    for (const text of [`{"url":"${image}`, `{"url":"${image}"`, `"${image}" "${image}"`, `{"url":"x"${image}"}`, ''])
      expect(await codeOf(() => parse(text))).toBe('invalid_json')
  })

  test('accepts and rejects exactly what JSON.parse does', async () => {
    const image = dataOf(4_000)
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      `"${image}"`,
      image,
      '"a":',
      'x',
      ' ',
      '"data:image',
      '1',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const text = pieces.join('')
        const expected = parsed(text)
        if (expected === undefined) expect(await codeOf(() => parse(text))).toBe('invalid_json')
        else expect(await parse(text)).toEqual(expected)
      }),
      { numRuns: 5_000 * inject('propertyShare') },
    )
  })
})
