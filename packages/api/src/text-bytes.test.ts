import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { decodedBytes, encodedBytes, isBase64, isBase64Text, utf8Bytes } from './text-bytes.ts'

const numRuns = 2000 * inject('propertyShare')
/** Built from code units, so that unpaired surrogates occur. */
const text = fc
  .array(fc.oneof(fc.nat(0x7f), fc.nat(0x7ff), fc.nat(0xffff), fc.integer({ min: 0xd7ff, max: 0xe000 })), {
    maxLength: 40,
  })
  .map((units) => String.fromCharCode(...units))

test('the browser implementation counts the bytes of a text as Node does', () => {
  fc.assert(
    fc.property(text, (text) => {
      expect(encodedBytes(text)).toBe(Buffer.byteLength(text))
      expect(utf8Bytes(text)).toBe(Buffer.byteLength(text))
    }),
    { numRuns },
  )
})

test('the browser implementation recognizes the same texts as base64 as Node does', () => {
  const character = fc.constantFrom(
    'A',
    'Z',
    'a',
    'z',
    '0',
    '9',
    '+',
    '/',
    '-',
    '_',
    '=',
    ' ',
    '\n',
    '.',
    '\u00e9',
    '\u0141',
    '\u{1f600}',
  )
  const nearly = fc.array(character, { maxLength: 10 }).map((characters) => characters.join(''))
  const encoded = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  let some = 0
  fc.assert(
    fc.property(fc.oneof(nearly, encoded, text), (text) => {
      expect(isBase64Text(text)).toBe(isBase64(text))
      if (isBase64(text)) some++
    }),
    { numRuns },
  )
  expect(some).toBeGreaterThan(numRuns / 10)
})

test('decodedBytes returns the number of bytes that a base64 text decodes to', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.boolean(), (bytes, url) => {
      const text = Buffer.from(bytes).toString(url ? 'base64url' : 'base64')
      expect([isBase64Text(text), decodedBytes(text)]).toEqual([true, bytes.length])
    }),
    { numRuns },
  )
})
