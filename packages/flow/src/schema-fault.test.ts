import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { schemaFault } from './schema-fault.ts'

// Not Ajv's class for draft 2020-12: for about one schema in several thousand it generates code that throws (`items0 is
// not defined`, for example for {"anyOf": [{"anyOf": [{"items": false}, false]}, {"items": {}}]} inside `not`).
const ajv = new Ajv({ strict: false, validateFormats: false, logger: false })

describe('validating a value against a schema', () => {
  test('agrees with Ajv for any schema and value', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null')
    const small = fc.nat({ max: 4 })
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false, 0, 1, 2.5, '', 'a', 'ab', '🧭'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3 }),
      ),
    }))
    const { schema } = fc.letrec<{ schema: object | boolean }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        fc.boolean(),
        fc.record(
          {
            type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
            enum: fc.uniqueArray(fc.constantFrom(0, 1, 'a', 'ab', null, true), { minLength: 1, maxLength: 3 }),
            const: fc.constantFrom<unknown>(0, 'a', null, true),
            minimum: small,
            exclusiveMaximum: small,
            minLength: small,
            maxLength: small,
            maxItems: small,
            minProperties: small,
            required: fc.uniqueArray(name, { maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
        fc.record(
          {
            properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
            additionalProperties: tie('schema'),
            items: tie('schema'),
            allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            not: tie('schema'),
          },
          { requiredKeys: [] },
        ),
      ),
    }))
    fc.assert(
      fc.property(schema, value, (schema, value) => {
        const root = { allOf: [schema] }
        expect(schemaFault(root, value) === null).toBe(ajv.validate(structuredClone(root), value))
      }),
      { numRuns: 400 * inject('propertyShare') },
    )
  })

  test('supports a schema that refers to itself', () => {
    const schema = {
      $ref: '#/$defs/tree',
      $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } }, required: ['name'] } },
    }
    expect(schemaFault(schema, { name: 'a', left: { name: 'b' } })).toBeNull()
    expect(schemaFault(schema, { name: 'a', left: {} })).toBe('left.name is missing')
    expect(schemaFault({ $ref: '#/nowhere' }, 1)).toBeNull()
    expect(schemaFault({ $ref: 'https://example.test/schema' }, 1)).toBeNull()
  })

  test('supports separate schemas for the first items of a list', () => {
    const schema = { prefixItems: [{ type: 'string' }], items: { type: 'integer' } }
    expect(schemaFault(schema, ['a', 1, 2])).toBeNull()
    expect(schemaFault(schema, [])).toBeNull()
    expect(schemaFault(schema, [1])).toBe('0 must be of the type string')
    expect(schemaFault(schema, ['a', 'b'])).toBe('1 must be of the type integer')
  })

  test('describes the violation in words', () => {
    const schema = { type: 'object', properties: { city: { type: 'string', maxLength: 3 } }, required: ['city'] }
    expect(schemaFault(schema, [])).toBe('the object must be of the type object')
    expect(schemaFault(schema, { city: 7 })).toBe('city must be of the type string')
    expect(schemaFault(schema, { city: 'Rome' })).toBe('city breaks maxLength 3')
    expect(schemaFault({ enum: ['a'] }, 'b')).toBe('the object must be one of ["a"]')
  })
})

describe('work limit', () => {
  test('stops at a schema that doubles with each reference', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    )
    expect(schemaFault({ $ref: '#/$defs/d0', $defs: { ...$defs, d40: {} } }, 1)).toMatch(/too much/)
  })

  test('stops at a schema that refers only to itself', () => {
    expect(schemaFault({ $ref: '#' }, 1)).toMatch(/too much/)
  })

  // Each schema checks the same value a few hundred times.
  const often = (asked: object) => ({
    $ref: '#/$defs/a',
    $defs: {
      a: { anyOf: Array.from({ length: 6 }, () => ({ $ref: '#/$defs/b' })) },
      b: { anyOf: Array.from({ length: 6 }, () => ({ $ref: '#/$defs/c' })) },
      c: { anyOf: Array.from({ length: 6 }, () => asked) },
    },
  })
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n]))
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

  test.each<[string, object, unknown]>([
    ['the length of a long text', { minLength: 70_000 }, 'x'.repeat(60_000)],
    ['the number of many fields', { minProperties: 9_000 }, fields(8_000)],
    ['every one of many fields', { properties: { f7999: false } }, fields(8_000)],
    ['every one of many items', { items: {}, maxItems: 9_000, not: {} }, numbers(8_000)],
    ['many required names', { required: [...Object.keys(fields(4_000)), 'missing'] }, fields(4_000)],
    ['a large value against a constant', { const: [...numbers(4_000), 'a'] }, [...numbers(4_000), 'b']],
    ['a large value against an enum', { enum: [[...numbers(4_000), 'a']] }, [...numbers(4_000), 'b']],
    ['many types', { type: Array.from({ length: 4_000 }, () => 'string') }, 1],
    ['a long reference', { $ref: `#${'/a'.repeat(9_000)}`, not: {} }, 1],
  ])('stops at a schema that repeatedly checks %s', (_, asked, value) => {
    expect(schemaFault(often(asked), value)).toMatch(/too much/)
  })

  test('is large enough for arguments of the maximum size', () => {
    const schema = { properties: { list: { items: { type: 'integer', minimum: 0 }, maxItems: 40_000 } } }
    expect(schemaFault(schema, { list: Array.from({ length: 32_000 }, () => 1) })).toBeNull()
    expect(schemaFault({ additionalProperties: { maxLength: 64_000 } }, fields(8_000))).toBeNull()
    expect(schemaFault({ properties: { text: { maxLength: 64_000 } } }, { text: 'x'.repeat(64_000) })).toBeNull()
  })

  test('does not evaluate patterns, which could backtrack', () => {
    expect(schemaFault({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`)).toBeNull()
  })
})
