import fc from 'fast-check'
import { Refusal } from '@gateway/api/refusal'
import { describe, expect, inject, test } from 'vitest'
import { parseChatBody } from './read-chat.ts'

const MIB = 1024 * 1024
const dataOf = (bytes: number) => `data:image/png;base64,${Buffer.alloc(bytes, 255).toString('base64')}`
const parse = (text: string) => parseChatBody(Buffer.from(text))

function codeOf(work: () => unknown): string {
  try {
    work()
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
  test('parses image data anywhere in the body', () => {
    const [one, two] = [dataOf(300_000), dataOf(2_000_000)]
    const body = { messages: [{ content: [{ url: one }, { url: two }, { text: one }] }], deep: { two } }
    expect(parse(JSON.stringify(body))).toEqual(body)
    expect(parse(JSON.stringify(body).replaceAll('/', '\\/'))).toEqual(body) // as PHP writes it
  })

  test('parses strings that quote or resemble image data', () => {
    const image = dataOf(10_000)
    for (const text of [`say "${image}"`, `\\"${image}`, `${image} and more`, `${image}\n`, `${image.slice(0, -8)}é`])
      expect(parse(JSON.stringify({ text }))).toEqual({ text })
    const escaped = `{"url":"${image.replace('png', 'pn\\u0067')}"}`
    expect(parse(escaped)).toEqual({ url: image })
  })

  test('parses fields of any name, including __proto__ and image data', () => {
    const image = dataOf(10_000)
    const parsed = parse(`{"__proto__":"${image}","a":{"constructor":"${image}"}}`) as Record<string, unknown>
    expect(Object.keys(parsed)).toEqual(['__proto__', 'a'])
    expect(JSON.stringify(parsed)).toBe(`{"__proto__":"${image}","a":{"constructor":"${image}"}}`)
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    const named = JSON.stringify({ properties: { [image]: { type: 'string' } }, url: image }).replace(
      '":{"t',
      '" :\n{"t',
    )
    expect(JSON.stringify(parse(named))).toBe(JSON.stringify(JSON.parse(named)))
  })

  test('allows 1 MiB in addition to image data and refuses more [request_too_large]', () => {
    const url = dataOf(3_000_000)
    const around = JSON.stringify({ url: '', text: '' }).length
    const body = (bytes: number) => JSON.stringify({ url, text: 'x'.repeat(bytes) })
    // A short placeholder replaces the image while the rest is measured.
    expect(parse(body(MIB - around - 100))).toMatchObject({ url })
    expect(codeOf(() => parse(body(MIB)))).toBe('request_too_large')
    expect(codeOf(() => parse(' '.repeat(MIB + 1)))).toBe('request_too_large')
    expect(codeOf(() => parse(JSON.stringify({ url: `${url}!` })))).toBe('request_too_large') // not base64: text
  })

  test('refuses invalid JSON [invalid_json]', () => {
    const image = dataOf(10_000)
    for (const text of [`{"url":"${image}`, `{"url":"${image}"`, `"${image}" "${image}"`, `{"url":"x"${image}"}`, ''])
      expect(codeOf(() => parse(text))).toBe('invalid_json')
  })

  test('accepts and rejects exactly what JSON.parse does', () => {
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
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        const expected = parsed(text)
        if (expected === undefined) expect(codeOf(() => parse(text))).toBe('invalid_json')
        else expect(parse(text)).toEqual(expected)
      }),
      { numRuns: 5_000 * inject('propertyShare') },
    )
  })
})
