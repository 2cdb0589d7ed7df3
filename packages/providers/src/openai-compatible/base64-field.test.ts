import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { mediaWire, openBase64Field } from './media-wire.ts'

function read(body: string, size = 7): Buffer {
  const decoder = openBase64Field('b64_json')
  const bytes = Buffer.from(body)
  const said: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size)
    said.push(decoder.take(bytes.subarray(at, at + size)) ?? Buffer.alloc(0))
  decoder.end()
  return Buffer.concat(said)
}

const bodyOf = (bytes: Uint8Array) =>
  JSON.stringify({
    model: 'b64_json',
    note: 'not "b64_json": "AAAA" \\',
    data: [{ revised_prompt: '{"b64_json":"AAAA"}', b64_json: Buffer.from(bytes).toString('base64') }],
    usage: { total: 1 },
  })

test('decodes any bytes, however the body is split and spaced', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 400 }), (bytes, size) => {
      expect(read(bodyOf(bytes), size)).toEqual(Buffer.from(bytes))
      const spaced = JSON.stringify(JSON.parse(bodyOf(bytes)), null, 3).replaceAll('": "', '" :\n "')
      expect(read(spaced, size)).toEqual(Buffer.from(bytes))
    }),
    { numRuns: 2_000 * inject('propertyShare') },
  )
})

test('decodes JSON escapes, even if split', () => {
  const bytes = Buffer.from('fffbff+/', 'base64')
  const plain = bodyOf(bytes)
  for (const body of [plain.replace('+/"', '+\\/"'), plain.replace('+/"', String.raw`\u002b\u002F"`)])
    for (let size = 1; size < 20; size++) expect(read(body, size)).toEqual(bytes)
})

test('skips line breaks, as MIME base64 has them, even if split', () => {
  for (const text of ['AAAA\\nAAA', 'AAAA\\r\\nAA'])
    // of one character too few: a kept n would complete the group
    for (const size of [1, 1_000]) expect(() => read(`{"b64_json":"${text}"}`, size)).toThrow(UnfitAnswer)
  const bytes = Buffer.from(Array.from({ length: 300 }, (_, n) => n % 251))
  for (const end of [String.raw`\n`, String.raw`\r\n`, String.raw`\u000a`]) {
    const wrapped = bytes.toString('base64').replaceAll(/.{76}/g, `$&${end}`)
    for (const size of [1, 7, 1_000]) expect(read(`{"b64_json":"${wrapped}${end}"}`, size)).toEqual(bytes)
  }
})

test('the limit on a response has room for the line breaks of an image of the largest size', () => {
  const { wireBytes } = mediaWire({ kind: 'openai-compatible', imageFormatField: true } as ProviderConfig & {
    kind: 'openai-compatible'
  })
  const base64 = Buffer.alloc(5 * 1024 * 1024).toString('base64')
  const breaks = Math.ceil(base64.length / 76) * String.raw`\r\n`.length
  expect(wireBytes({ kind: 'image', prompt: 'x' }, 5 * 1024 * 1024)).toBeGreaterThan(base64.length + breaks)
})

test('reads the first field of that name', () => {
  expect(read('{"data":[{"b64_json":"AAAA"},{"b64_json":"////"}]}')).toEqual(Buffer.from('AAAA', 'base64'))
})

test('rejects a truncated body, invalid base64, invalid JSON and a missing field', () => {
  const whole = bodyOf(Buffer.from('an image'))
  for (let length = 1; length < whole.length; length++) expect(() => read(whole.slice(0, length))).toThrow(UnfitAnswer)
  for (const text of [
    'AAA',
    'A===',
    'AA==AAAA',
    'AAA-',
    'AA A',
    'ÄAAA',
    'AAA\\t',
    'AAA\\"',
    'AAA\\b',
    'AAA\\x',
    'A\\u0009AAA',
  ])
    for (const size of [1, 1_000]) expect(() => read(`{"b64_json":"${text}"}`, size)).toThrow(UnfitAnswer)
  expect(() => read('{"data":[]}')).toThrow(UnfitAnswer)
  expect(() => read(`{"data":"${'x'.repeat(300_000)}"}`, 10_000)).toThrow(UnfitAnswer)
  expect(() => read('{"error":{"status":503}}')).toThrow(ErrorInAnswer)
})
