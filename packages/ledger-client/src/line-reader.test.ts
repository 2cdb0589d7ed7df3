import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLineReader } from './items-exchange.ts'

const line = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => text !== '' && !/[\n]/.test(text))

test('returns whole lines in order, however the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat({ max: 12 })), (lines, sizes) => {
      const seen: string[] = []
      const read = openLineReader((text) => seen.push(text), 1_000)
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      let at = 0
      for (const size of sizes) {
        if (size > 0 && at < bytes.length) read(bytes.subarray(at, at + size))
        at += size
      }
      if (at < bytes.length) read(bytes.subarray(at))
      expect(seen).toEqual(lines)
    }),
  )
})

test('does not return a last line without its newline', () => {
  const seen: string[] = []
  openLineReader((text) => seen.push(text), 1_000)(Buffer.from('one\ntwo'))
  expect(seen).toEqual(['one'])
})

test('throws a RangeError once a line exceeds the limit', () => {
  const read = openLineReader(() => {}, 10)
  read(Buffer.from('0123456789'))
  expect(() => read(Buffer.from('0'))).toThrow(RangeError)
})
