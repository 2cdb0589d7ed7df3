import { prose, type Seeded } from './seeded.ts'

type Schema = Record<string, unknown>

/**
 * Generates a value that fits a JSON Schema: types, `enum`, `const`, `properties`, `items`, bounds of length and size,
 * the common formats, local `$ref`, `anyOf`, `oneOf`, `allOf`. Other keywords (such as `pattern`) are ignored.
 */
export function fitSchema(schema: unknown, random: Seeded): unknown {
  return fit(schema, { root: schema, random, depth: 0 })
}

interface Walk {
  root: unknown
  random: Seeded
  depth: number
}

function fit(given: unknown, walk: Walk): unknown {
  const schema = resolved(given, walk.root)
  if (!schema) return null
  if ('const' in schema) return schema['const']
  const options = schema['enum']
  if (Array.isArray(options) && options.length > 0) return options[walk.random.next(options.length)]
  const choice = schema['anyOf'] ?? schema['oneOf']
  // At depth, take the last choice: in a recursive schema it is usually the one that terminates.
  if (Array.isArray(choice)) return fit(walk.depth > 8 ? choice.at(-1) : choice[0], deeper(walk))
  switch (typeOf(schema)) {
    case 'object':
      return fitObject(schema, deeper(walk))
    case 'array': {
      const length = walk.depth > 8 ? 0 : Math.min(Math.max(count(schema['minItems'], 1), 0), 100)
      return Array.from({ length }, () => fit(schema['items'] ?? { type: 'string' }, deeper(walk)))
    }
    case 'integer':
    case 'number':
      return fitNumber(schema, walk.random)
    case 'boolean':
      return walk.random.next(2) === 1
    case 'null':
      return null
    default:
      return fitText(schema, walk.random)
  }
}

function fitObject(schema: Schema, walk: Walk): Schema {
  const parts = Array.isArray(schema['allOf']) ? schema['allOf'] : []
  const value: Schema = {}
  for (const part of parts) {
    const fitted = fit(part, walk)
    if (fitted !== null && typeof fitted === 'object') Object.assign(value, fitted)
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  for (const [name, property] of Object.entries(asSchema(schema['properties']) ?? {})) {
    // Deep inside a recursive schema, fill in only required properties.
    if (walk.depth <= 4 || required.includes(name)) value[name] = fit(property, walk)
  }
  return value
}

function fitNumber(schema: Schema, random: Seeded): number {
  const whole = typeOf(schema) === 'integer'
  const step = whole ? 1 : 0.5
  const low = Math.max(count(schema['minimum'], -Infinity), count(schema['exclusiveMinimum'], -Infinity) + step)
  const high = Math.min(count(schema['maximum'], Infinity), count(schema['exclusiveMaximum'], Infinity) - step)
  const multiple = count(schema['multipleOf'], 0)
  const from = Number.isFinite(low) ? low : Number.isFinite(high) ? high - 100 : 1
  const to = Number.isFinite(high) ? high : from + 100
  const value = to - from < 1 ? from : from + random.next(Math.min(Math.floor(to - from), 1_000_000) + 1)
  if (multiple > 0) return Math.ceil(from / multiple) * multiple
  return whole ? Math.ceil(value) : value
}

const formats: Record<string, string> = {
  date: '2026-03-14',
  time: '09:26:53Z',
  'date-time': '2026-03-14T09:26:53Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
}

function fitText(schema: Schema, random: Seeded): string {
  const format = formats[String(schema['format'])]
  if (format !== undefined) return format
  const least = count(schema['minLength'], 0)
  const most = count(schema['maxLength'], 10_000)
  let text = prose(random, 3).slice(0, -1)
  if (text.length < least) text = text.padEnd(Math.min(least, 10_000), ' and so on')
  return text.slice(0, most)
}

function typeOf(schema: Schema): unknown {
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  if (type !== undefined) return type
  if ('properties' in schema || 'allOf' in schema) return 'object'
  return 'items' in schema ? 'array' : 'string'
}

function resolved(given: unknown, root: unknown): Schema | null {
  let schema = asSchema(given)
  for (let hops = 0; schema && typeof schema['$ref'] === 'string' && hops < 20; hops++) {
    let target: unknown = root
    for (const step of schema['$ref'].replace(/^#\/?/, '').split('/').filter(Boolean)) target = asSchema(target)?.[step]
    schema = asSchema(target)
  }
  return schema
}

const deeper = (walk: Walk): Walk => ({ ...walk, depth: walk.depth + 1 })
const asSchema = (value: unknown): Schema | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Schema) : null
const count = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)

/** Parses the arguments of a tool call as an object, which fails if the output cap cut them short. */
export function argumentsOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}
