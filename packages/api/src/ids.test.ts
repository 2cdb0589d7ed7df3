import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mintId, timeOfId } from './ids.ts'

const random = fc.uint8Array({ minLength: 10, maxLength: 10 })
const timeMs = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('an id is its prefix and 26 characters of Crockford base32', () => {
  fc.assert(
    fc.property(timeMs, random, (nowMs, bytes) => {
      expect(mintId('inv', nowMs, bytes)).toMatch(/^inv_[0-9abcdefghjkmnpqrstvwxyz]{26}$/)
    }),
  )
})

test('a later id sorts after an earlier one, for any random bits', () => {
  fc.assert(
    fc.property(timeMs, timeMs, random, random, (a, b, one, two) => {
      fc.pre(a < b)
      expect(mintId('inv', a, one) < mintId('inv', b, two)).toBe(true)
    }),
  )
})

test('an id preserves its time and every random bit', () => {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz'
  const value = (text: string) =>
    Array.from(text).reduce((sum, character) => sum * 32n + BigInt(digits.indexOf(character)), 0n)
  fc.assert(
    fc.property(timeMs, random, (nowMs, bytes) => {
      const [, text] = mintId('key', nowMs, bytes).split('_')
      expect(value(text!.slice(0, 10))).toBe(BigInt(nowMs))
      expect(value(text!.slice(10)).toString(16).padStart(20, '0')).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})

test('ids of the same millisecond sort by their random bits', () => {
  fc.assert(
    fc.property(random, random, (one, two) => {
      const [a, b] = [mintId('prj', 1_000, one), mintId('prj', 1_000, two)]
      expect(Math.sign(Buffer.compare(one, two))).toBe(a < b ? -1 : a > b ? 1 : 0)
    }),
  )
})

test('timeOfId returns the creation time of an id, and null for any other text', () => {
  fc.assert(
    fc.property(timeMs, random, (nowMs, bytes) => {
      expect(timeOfId(mintId('inv', nowMs, bytes))).toEqual(new Date(nowMs))
    }),
  )
  for (const text of ['', 'inv_', 'inv_01jd3zq2v8', 'inv_01jd3zq2v8x9w7c5b4n6m8k0gl', 'INV_01jd3zq2v8x9w7c5b4n6m8k0gh'])
    expect(timeOfId(text)).toBeNull()
})
