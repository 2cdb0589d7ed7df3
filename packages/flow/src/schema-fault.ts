// Validates a JSON value against a JSON Schema that the author of a flow wrote for the parameters of a tool.
//   S1  Checks type, enum, const, properties, required, additionalProperties, items, prefixItems, bounds of numbers,
//       lengths and counts, allOf, anyOf, oneOf, not, and $ref within the same schema. Other keywords are left to the
//       model, above all `pattern` and `format`, because no untrusted regular expression is run here.
//   S2  Ends quickly for any schema and value: validation that takes more than STEPS steps fails as invalid. A step is
//       a schema, field, item or name visited, or a number of characters: a schema can check each any number of times.

type Json = unknown
type Schema = Record<string, Json>

const STEPS = 200_000
const CHARACTERS_A_STEP = 64
const DEPTH = 64

interface Check {
  root: Schema
  left: number
}

/** Returns what is wrong with the value, as part of a sentence, or null if it is valid. */
export function schemaFault(schema: Schema, value: Json): string | null {
  const check = { root: schema, left: STEPS }
  try {
    return fault(check, schema, value, '', 0)
  } catch (error) {
    if (error instanceof TooMuch) return 'they are too much to be checked' // S2
    throw error
  }
}

class TooMuch extends Error {}

/** S2 */
function spend(check: Check, steps: number): void {
  check.left -= steps
  if (check.left < 0) throw new TooMuch()
}

function spendOnText(check: Check, text: string): void {
  spend(check, Math.ceil(text.length / CHARACTERS_A_STEP))
}

function fault(check: Check, schema: Json, value: Json, at: string, depth: number): string | null {
  spend(check, 1)
  if (depth > DEPTH) throw new TooMuch()
  if (schema === false) return `${placeOf(at)} is not allowed`
  if (!isObject(schema)) return null
  const inner = (of: Json, what: Json = value, path = at) => fault(check, of, what, path, depth + 1)
  return (
    typeFault(check, schema, value, at) ??
    boundFault(check, schema, value, at) ??
    objectFault(check, schema, value, at, inner) ??
    listFault(check, schema, value, at, inner) ??
    combinedFault(check, schema, at, inner)
  )
}

type Inner = (schema: Json, value?: Json, path?: string) => string | null

function typeFault(
  check: Check,
  { type, enum: options, const: constant }: Schema,
  value: Json,
  at: string,
): string | null {
  const types = [type].flat().filter((each) => typeof each === 'string')
  spend(check, types.length)
  if (types.length > 0 && !types.some((each) => isOfType(each, value)))
    return `${placeOf(at)} must be of the type ${types.join(' or ')}`
  if (Array.isArray(options) && !options.some((option) => isSame(check, option, value)))
    return `${placeOf(at)} must be one of ${quoted(check, options)}`
  if (constant !== undefined && !isSame(check, constant, value))
    return `${placeOf(at)} must be ${quoted(check, constant)}`
  return null
}

function quoted(check: Check, value: Json): string {
  const text = JSON.stringify(value)
  spendOnText(check, text)
  return text.slice(0, 200)
}

function isOfType(type: string, value: Json): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/** By keyword: the measure of a value and the check on it. */
const bounds: [
  keyword: string,
  measure: (value: Json, check: Check) => number | null,
  holds: (measured: number, bound: number) => boolean,
][] = [
  ['minimum', numberIn, (measured, bound) => measured >= bound],
  ['maximum', numberIn, (measured, bound) => measured <= bound],
  ['exclusiveMinimum', numberIn, (measured, bound) => measured > bound],
  ['exclusiveMaximum', numberIn, (measured, bound) => measured < bound],
  ['minLength', charactersOf, (measured, bound) => measured >= bound],
  ['maxLength', charactersOf, (measured, bound) => measured <= bound],
  ['minItems', itemsOf, (measured, bound) => measured >= bound],
  ['maxItems', itemsOf, (measured, bound) => measured <= bound],
  ['minProperties', fieldsOf, (measured, bound) => measured >= bound],
  ['maxProperties', fieldsOf, (measured, bound) => measured <= bound],
]

function boundFault(check: Check, schema: Schema, value: Json, at: string): string | null {
  for (const [keyword, measure, holds] of bounds) {
    const bound = schema[keyword]
    if (typeof bound !== 'number') continue
    const measured = measure(value, check)
    if (measured !== null && !holds(measured, bound)) return `${placeOf(at)} breaks ${keyword} ${bound}`
  }
  return null
}

function numberIn(value: Json): number | null {
  return typeof value === 'number' ? value : null
}
function charactersOf(value: Json, check: Check): number | null {
  if (typeof value !== 'string') return null
  spendOnText(check, value)
  return Array.from(value).length
}
function itemsOf(value: Json): number | null {
  return Array.isArray(value) ? value.length : null
}
function fieldsOf(value: Json, check: Check): number | null {
  if (!isObject(value)) return null
  const count = Object.keys(value).length
  spend(check, count)
  return count
}

function objectFault(check: Check, schema: Schema, value: Json, at: string, inner: Inner): string | null {
  if (!isObject(value)) return null
  const { required, patternProperties } = schema
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const names: Json[] = Array.isArray(required) ? required : []
  const fields = Object.entries(value)
  spend(check, names.length + fields.length)
  for (const name of names)
    if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${placeOf(join(at, name))} is missing`
  for (const [name, item] of fields) {
    const path = join(at, name)
    if (Object.hasOwn(properties, name)) {
      const found = inner(properties[name], item, path)
      if (found !== null) return found
    } else if (schema['additionalProperties'] !== undefined && patternProperties === undefined) {
      const found = inner(schema['additionalProperties'], item, path)
      if (found !== null) return found
    }
  }
  return null
}

function listFault(check: Check, { items, prefixItems }: Schema, value: Json, at: string, inner: Inner): string | null {
  if (!Array.isArray(value)) return null
  spend(check, value.length)
  const first: Json[] = Array.isArray(prefixItems) ? prefixItems : []
  for (const [n, item] of value.entries()) {
    const schema = n < first.length ? first[n] : items
    const found = schema === undefined ? null : inner(schema, item, join(at, String(n)))
    if (found !== null) return found
  }
  return null
}

function combinedFault(check: Check, schema: Schema, at: string, inner: Inner): string | null {
  const { allOf, anyOf, oneOf, not, $ref: reference } = schema
  if (typeof reference === 'string') {
    const target = targetOf(check, reference)
    const found = target === undefined ? null : inner(target)
    if (found !== null) return found
  }
  for (const each of Array.isArray(allOf) ? allOf : []) {
    const found = inner(each)
    if (found !== null) return found
  }
  if (Array.isArray(anyOf) && anyOf.length > 0 && !anyOf.some((each) => inner(each) === null))
    return `${placeOf(at)} fits none of anyOf`
  if (Array.isArray(oneOf) && oneOf.length > 0 && oneOf.filter((each) => inner(each) === null).length !== 1)
    return `${placeOf(at)} does not fit exactly one of oneOf`
  if (not !== undefined && inner(not) === null) return `${placeOf(at)} is what not forbids`
  return null
}

/**
 * Returns the target of a reference such as `#/$defs/city`; undefined if it does not exist or is in another document.
 */
function targetOf(check: Check, reference: string): Json {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  const path = reference.split('/')
  spend(check, path.length)
  let target: Json = check.root
  for (const step of path.slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return undefined
    target = (target as Schema)[name]
  }
  return target
}

function isSame(check: Check, one: Json, other: Json): boolean {
  spend(check, 1)
  if (typeof one === 'string') spendOnText(check, one)
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [names, others] = [Object.keys(one), Object.keys(other)]
  spend(check, names.length + others.length)
  return (
    names.length === others.length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(check, (one as Schema)[name], (other as Schema)[name]))
  )
}

function isObject(value: Json): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}

function placeOf(at: string): string {
  return at === '' ? 'the object' : at.slice(0, 100)
}
