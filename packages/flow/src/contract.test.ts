import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import type { ContractSide } from '@gateway/api/graph'
import { chatFieldsOf, compileContract, readContractSide } from './contract.ts'

const side = (properties: Record<string, object>, required: string[] = []) =>
  ({ type: 'object', properties, required }) as ContractSide
const text = { type: 'string' }

function faults(properties: Record<string, object>, values: unknown, required: string[] = []) {
  const checked = compileContract(side(properties, required)).check(values)
  return checked.ok ? [] : checked.fields
}
const codes = (value: unknown) => (readContractSide(value).problems ?? []).map(({ code }) => code)
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, text]))
const options = (count: number) => Array.from({ length: count }, (_, at) => `o${at}`)

// spec: 1/s6, 2.3/s4, 2.3/s5, 2.3/s6, 2.3/s7, 2.3/s8, 8.2/r8
test('accepts only a flat object of typed fields as a contract', () => {
  expect(
    codes(
      side({ a: text, b: { type: 'number', title: 'B', description: 'b' }, c: { type: 'object', format: 'image' } }, [
        'a',
      ]),
    ),
  ).toEqual([])
  expect(codes({ ...side({ a: text }), additionalProperties: false, title: 'T', description: 'D' })).toEqual([])
  for (const wrong of [
    null,
    [],
    'object',
    {},
    { type: 'array', properties: {} },
    { type: 'object' },
    { ...side({ a: text }), additionalProperties: true },
    { ...side({ a: text }), $defs: {} },
    { ...side({ a: text }), allOf: [] },
    side({ a: text }, ['b']),
    side({ a: text }, ['a', 'a']),
    { ...side({ a: text }), required: 'a' },
    { ...side({ a: text }), required: [1] },
    side({ a: { type: 'array' } }),
    side({ a: { type: 'integer' } }),
    side({ a: { type: ['string', 'number'] } }),
    side({ a: { $ref: '#/x' } }),
    side({ a: { type: 'object', properties: {} } }),
    side({ a: { type: 'string', pattern: 'a+' } }),
    side({ a: { type: 'string', anyOf: [] } }),
    side({ a: { type: 'string', default: 'x' } }),
    side({ a: { type: 'string', format: 'voice' } }),
    side({ a: { type: 'string', format: 'image' } }),
    side({ a: { type: 'string', format: 'email' } }),
    side({ a: { type: 'string', enum: ['x'], format: 'image' } }),
    side({ a: { type: 'object', format: 'voice' } }),
    side({ a: { type: 'number', enum: [1] } }),
    side({ a: { type: 'string', enum: ['x', 1] } }),
    side({ a: { type: 'string', enum: ['x', 'x'] } }),
    side({ a: { type: 'string', enum: 'x' } }),
    side({ a: { type: 'string', title: 1 } }),
    side({ '': text }),
    side({ ['a'.repeat(65)]: text }),
    side({ 'a\u0000': text }),
    side({ '\ud800': text }),
    side(JSON.parse('{"__proto__":{"type":"string"}}') as Record<string, object>),
  ])
    expect([wrong, ...new Set(codes(wrong))]).toEqual([wrong, 'contract_invalid'])
})

test('reports all problems of a contract at once', () => {
  expect(codes(side({ a: { type: 'list' }, b: { type: 'string', $ref: 'x' } }, ['c']))).toHaveLength(3)
})

// spec: 2.3/s8, 8.2/r4, 8.2/r8
test('limits a side of a contract to 20 fields and a select to 1 to 100 options', () => {
  expect(codes(side(fields(20)))).toEqual([])
  expect(codes(side(fields(21)))).toEqual(['too_many_fields'])
  expect(codes(side({ a: { type: 'string', enum: options(1) } }))).toEqual([])
  expect(codes(side({ a: { type: 'string', enum: options(100) } }))).toEqual([])
  expect(codes(side({ a: { type: 'string', enum: [] } }))).toEqual(['contract_invalid'])
  expect(codes(side({ a: { type: 'string', enum: options(101) } }))).toEqual(['contract_invalid'])
})

test('limits a side of a contract to 64 KB of compact JSON, with its titles, descriptions and options', () => {
  const described = (description: string) => ({ ...side({ a: text }), additionalProperties: false, description })
  const room = 64 * 1024 - Buffer.byteLength(JSON.stringify(described('')))
  expect(codes(described('x'.repeat(room)))).toEqual([])
  const { problems } = readContractSide(described('x'.repeat(room + 1)), 'input contract')
  expect(problems).toMatchObject([
    {
      code: 'contract_invalid',
      message: 'The input contract has more than 65536 bytes as compact JSON.',
      resolution: 'Shorten its titles, descriptions and options.',
    },
  ])
  const enums = Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(1_000, 'ä'))
  expect(codes(side({ a: { type: 'string', enum: enums } }))).toEqual(['contract_invalid'])
})

// spec: 2.3/s11
test('a format on a select does not change its validation', () => {
  for (const format of ['voice', 'aspect_ratio', 'resolution', 'duration']) {
    const select = { type: 'string', enum: ['x', 'y'], format }
    expect(codes(side({ a: select }))).toEqual([])
    expect(faults({ a: select }, { a: 'x' })).toEqual([])
    expect(faults({ a: select }, { a: 'z' })).toHaveLength(1)
  }
})

test('reads a side of a contract as JSON Schema without additional properties', () => {
  const read = readContractSide({ type: 'object', properties: { a: text } })
  expect(read).toMatchObject({
    side: { type: 'object', properties: { a: text }, required: [], additionalProperties: false },
    fields: [{ name: 'a', type: 'string', required: false, options: null }],
  })
  expect(codes((read as { side: ContractSide }).side)).toEqual([])
})

// spec: 2.3/s10
test('treats an omitted or null optional field and an empty select as null', () => {
  const properties = { a: text, b: { type: 'string', enum: ['x'] }, c: { type: 'object', format: 'image' } }
  const { check } = compileContract(side(properties))
  for (const given of [{}, { a: null, b: null }, { b: '' }])
    expect(check(given)).toEqual({ ok: true, values: { a: null, b: null, c: null } })
  expect(check({ a: '' })).toEqual({ ok: true, values: { a: '', b: null, c: null } })
  expect(faults(properties, { a: '', b: '' }, ['a', 'b'])).toEqual([{ field: 'b', message: 'is required' }])
})

// spec: 2.3/s5, 4.3/s11
test('reports every invalid field', () => {
  const choice = { type: 'string', enum: ['x'] }
  const properties = { a: text, b: { type: 'number' }, c: { type: 'boolean' }, d: { type: 'object' }, f: choice }
  expect(faults(properties, { b: '1', c: 1, d: [], e: 1, f: 'y' }, ['a'])).toEqual([
    { field: 'a', message: 'is required' },
    { field: 'b', message: 'must be a number' },
    { field: 'c', message: 'must be true or false' },
    { field: 'd', message: 'must be an object' },
    { field: 'f', message: 'must be one of "x"' },
    { field: 'e', message: 'is not a field of the contract' },
  ])
  expect(faults(properties, [])).toEqual([{ field: '', message: 'must be an object' }])
})

test('does not accept names of prototype properties as fields', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(faults({ a: text }, JSON.parse(`{"${name}":"x"}`))).toEqual([
      { field: name, message: 'is not a field of the contract' },
    ])
    if (name !== '__proto__') expect(faults({ [name]: text }, {}, [name])).toHaveLength(1)
  }
})

// spec: 8.2/r5
test('limits a text to 64 KB of UTF-8, and an object to 64 KB of JSON and 128 levels', () => {
  const most = 64 * 1024
  expect(faults({ a: text }, { a: 'x'.repeat(most) })).toEqual([])
  expect(faults({ a: text }, { a: 'x'.repeat(most + 1) })).toHaveLength(1)
  expect(faults({ a: text }, { a: 'ä'.repeat(most / 2 + 1) })).toHaveLength(1)
  expect(faults({ a: text }, { a: '\n'.repeat(most) })).toEqual([])
  expect(faults({ a: { type: 'object' } }, { a: { b: 'x'.repeat(most - 8) } })).toEqual([])
  expect(faults({ a: { type: 'object' } }, { a: { b: 'x'.repeat(most - 7) } })).toHaveLength(1)
  const deep = (levels: number) => ({
    a: JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`) as unknown,
  })
  expect(faults({ a: { type: 'object' } }, deep(128))).toEqual([])
  expect(faults({ a: { type: 'object' } }, deep(129))).toHaveLength(1)
  expect(faults({ a: { type: 'object' } }, deep(100_000))).toHaveLength(1)
})

// spec: 2.3/s7
test('accepts only an asset of the right media type for an image field', () => {
  const image = { a: { type: 'object', format: 'image' } }
  expect(faults(image, { a: { asset: 'ast_01hx' } })).toEqual([])
  expect(faults(image, { a: { asset: 'ast_01hx', mimeType: 'image/png', bytes: 12 } })).toEqual([])
  for (const wrong of [
    {},
    'ast_01hx',
    { asset: 'exe_01hx' },
    { asset: 1 },
    { asset: 'ast_01hx', url: 'https://example.com' },
    { asset: 'ast_01hx', mimeType: 'audio/wav' },
    { asset: 'ast_01hx', bytes: -1 },
  ])
    expect([wrong, faults(image, { a: wrong }).length]).toEqual([wrong, 1])
})

// spec: 4.1/s7, 4.2/s8
test('a contract is chat-compatible only with exactly one text in and one text out', () => {
  expect(chatFieldsOf(side({ a: text }), side({ b: text }))).toEqual({ input: 'a', output: 'b' })
  expect(chatFieldsOf(side({ a: text, c: text }), side({ b: text }))).toBeNull()
  expect(chatFieldsOf(side({ a: text }), side({ b: text, c: { type: 'number' } }))).toBeNull()
  expect(chatFieldsOf(side({ a: { type: 'string', enum: ['x'] } }), side({ b: text }))).toBeNull()
  expect(chatFieldsOf(side({}), side({ b: text }))).toBeNull()
  expect(chatFieldsOf(side({ a: text }), side({ b: { type: 'object', format: 'image' } }))).toBeNull()
})

// spec: 2.3/s4, 2.3/s11
test('the validator agrees with Ajv on 100,000 pairs of schema and value', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'constructor', 'toString', 'x y')
  const field = fc.oneof(
    fc.constantFrom({ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }),
    fc
      .uniqueArray(fc.constantFrom('x', 'y', 'z', 'Ä'), { minLength: 1 })
      .map((options) => ({ type: 'string', enum: options, format: 'voice' })),
  )
  const schema = fc
    .tuple(fc.dictionary(name, field, { maxKeys: 4 }), fc.infiniteStream(fc.boolean()))
    .map(([properties, flags]) =>
      side(
        properties,
        Object.keys(properties).filter(() => flags.next().value),
      ),
    )
  const value = fc.oneof(
    fc.constantFrom('x', 'y', 'z', 'Ä', '', 'other', null, true, false, 0, -1.5, 1e300),
    fc.constantFrom<unknown>({}, [], { a: { b: [1] } }, [[]]),
  )
  const values = fc.array(
    fc.oneof({ weight: 20, arbitrary: fc.dictionary(name, value, { maxKeys: 5 }) }, { weight: 1, arbitrary: value }),
    { minLength: 400, maxLength: 400 },
  )

  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    addUsedSchema: false,
    formats: { voice: true },
    ownProperties: true,
  })
  let compared = 0
  fc.assert(
    fc.property(schema, values, (schema, values) => {
      const clean = (readContractSide(schema) as { side: ContractSide }).side
      const oracle = ajv.compile(clean)
      const { check } = compileContract(clean)
      for (const given of values) {
        compared++
        const supplied = withoutAbsent(given, schema)
        const ours = check(given)
        if (ours.ok !== oracle(supplied)) throw new Error(`${JSON.stringify(schema)} and ${JSON.stringify(given)}`)
        if (ours.ok) continue
        const theirs = new Set(oracle.errors!.map(fieldOfError))
        expect(new Set(ours.fields.map(({ field }) => field))).toEqual(theirs)
      }
    }),
    { numRuns: 250 * inject('propertyShare') },
  )
  expect(compared).toBeGreaterThanOrEqual(100_000 * inject('propertyShare'))
})

/** Removes fields JSON Schema can't treat as absent: null, and the empty string of a select. */
function withoutAbsent(given: unknown, schema: ContractSide): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const isSelect = (name: string) =>
    Object.hasOwn(schema.properties, name) && schema.properties[name]!.enum !== undefined
  const known = (name: string) => Object.hasOwn(schema.properties, name)
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => !(known(name) && value === null) && !(isSelect(name) && value === ''),
    ),
  )
}

function fieldOfError(error: { instancePath: string; params: Record<string, unknown> }): string {
  const named = error.params['missingProperty'] ?? error.params['additionalProperty']
  return typeof named === 'string' ? named : error.instancePath.slice(1)
}
