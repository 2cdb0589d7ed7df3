import { jsonLimits } from '@gateway/api/limits'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { duplicateIn, inspectJson } from './read-body.ts'

const inspect = (text: string) => inspectJson(Buffer.from(text))
const duplicateOf = (text: string) => duplicateIn(Buffer.from(text), JSON.parse(text), inspect(text).fields)
const times = (count: number, of: (n: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join()
const { levels, fields, values } = jsonLimits

describe('inspectJson', () => {
  test.each([
    ['fields', `{${times(fields, (n) => `"${n}":0`)}}`, `{${times(fields + 1, (n) => `"${n}":0`)}}`],
    ['values', `[${times(values - 1, () => '1')}]`, `[${times(values, () => '1')}]`],
    ['levels', '['.repeat(levels) + ']'.repeat(levels), '['.repeat(levels + 1) + ']'.repeat(levels + 1)],
  ] as const)('accepts as many %s as the limit, and no more', (what, most, oneMore) => {
    expect(inspect(most).exceeded).toBe(null)
    expect(inspect(oneMore).exceeded).toBe(what)
  })

  test('counts no punctuation inside a string', () => {
    for (const text of [',:[{'.repeat(values), '"],[{:'.repeat(values), '\\"],[{:'.repeat(values), '\\'])
      expect(inspect(JSON.stringify({ text, list: [text, 1] })).exceeded).toBe(null)
  })

  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":{"b":1,"c":[{"d":1},{"d":1}],"b":2}}', 'b'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"":1,"":2}', ''],
    ['[{"a":1},{"a":1},"a","a"]', null],
    ['{"a":"b","b":{"a":1}}', null],
    ['{"a":{"a":{"a":1}}}', null],
    ['{"a" : "x:y", "x":1}', null],
  ])('finds in %s the name that an object has twice: %s', (text, name) => {
    expect(duplicateOf(text)).toBe(name)
  })

  test('finds a duplicate if and only if the parser drops a field', () => {
    // Not a backslash: V8 13.6 takes a quote for it in an object of the same shape as one that had it.
    const name = fc.constantFrom('a', 'b', '', '"', 'a:', '__proto__', 'ä')
    const json: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.constantFrom('1', '"a"', '[]'), tie('object')),
      object: fc
        .array(fc.tuple(name, tie('value')), { maxLength: 4 })
        .map((fields) => `{${fields.map(([field, value]) => `${JSON.stringify(field)}:${value}`).join()}}`),
    })).object
    const colons = (text: string) => text.split('":').length
    fc.assert(
      fc.property(json, (text) => {
        expect(duplicateOf(text) === null).toBe(colons(JSON.stringify(JSON.parse(text))) === colons(text))
      }),
    )
  })

  test('ends for any bytes, valid JSON or not', () => {
    const piece = fc.constantFrom('"', '\\', '{', '[', '}', ']', ',', ':', 'e', '1', '.', ' ')
    fc.assert(fc.property(fc.array(piece), (pieces) => void inspect(pieces.join(''))))
  })

  test('finds every number beyond double precision', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,400}$/)
    const exponent = fc.option(fc.stringMatching(/^[eE][+-]?[0-9]{1,4}$/), { nil: '' })
    fc.assert(
      fc.property(
        fc.boolean(),
        digits,
        fc.stringMatching(/^(?:\.[0-9]{1,9})?$/),
        exponent,
        (minus, whole, part, power) => {
          const text = `${minus ? '-' : ''}${whole}${part}${power}`
          if (!Number.isFinite(JSON.parse(text))) expect(inspect(`[true, ${text}]`).mayOverflow).toBe(true)
        },
      ),
    )
    expect(inspect('{"true":true,"e":1.5,"a":[1,2]}').mayOverflow).toBe(false)
  })
})
