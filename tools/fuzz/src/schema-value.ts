import { apiDocument, type Json } from '@gateway/testbed/example-request'
import type { Chance } from './chance.ts'

const DEEPEST = 6

/** A value that fits a schema of the document, apart from its patterns. */
export function schemaValue(schema: Json, chance: Chance, depth = 0): unknown {
  const {
    $ref,
    anyOf,
    oneOf,
    allOf,
    const: only,
    enum: some,
    examples,
    type,
  } = schema as {
    $ref?: string
    anyOf?: Json[]
    oneOf?: Json[]
    allOf?: Json[]
    const?: unknown
    enum?: unknown[]
    examples?: unknown[]
    type?: string | string[]
  }
  if ($ref !== undefined) return schemaValue(resolved(schema), chance, depth)
  if (only !== undefined) return only
  if (some) return chance.pick(some)
  if (examples && examples.length > 0 && chance.hits(0.7)) return structuredClone(chance.pick(examples))
  const choice = anyOf ?? oneOf
  if (choice) return schemaValue(chance.pick(choice), chance, depth)
  if (allOf) return Object.assign({}, ...allOf.map((part) => schemaValue(part, chance, depth) as object)) as object
  switch (Array.isArray(type) ? chance.pick(type) : (type ?? 'any')) {
    case 'object':
      return objectValue(schema, chance, depth)
    case 'array':
      return arrayValue(schema, chance, depth)
    case 'integer':
    case 'number':
      return numberValue(schema, chance)
    case 'boolean':
      return chance.hits(0.5)
    case 'null':
      return null
    case 'string':
      return chance.text(Math.max(Number(schema['minLength'] ?? 0), 1 + chance.below(12)))
    default:
      return chance.pick<unknown>(['text', 7, true, null, { a: 1 }, [1]])
  }
}

/** The schema behind a reference. */
export function resolved(schema: Json): Json {
  const { $ref } = schema as { $ref?: string }
  return $ref === undefined ? schema : resolved(apiDocument.components.schemas[$ref.split('/').at(-1)!]!)
}

/** The object schemas that a schema may stand for. */
export function objectSchemas(schema: Json): { properties?: Record<string, Json> }[] {
  const { anyOf, oneOf, ...own } = resolved(schema) as { anyOf?: Json[]; oneOf?: Json[] }
  return [own, ...[...(anyOf ?? []), ...(oneOf ?? [])].flatMap(objectSchemas)]
}

function objectValue(schema: Json, chance: Chance, depth: number): Json {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Json>; required?: string[] }
  const names = Object.keys(properties).filter(
    (name) => required.includes(name) || (depth < DEEPEST && chance.hits(0.3)),
  )
  return Object.fromEntries(names.map((name) => [name, schemaValue(properties[name]!, chance, depth + 1)]))
}

function arrayValue(schema: Json, chance: Chance, depth: number): unknown[] {
  const { items, minItems = 0, maxItems = 3 } = schema as { items?: Json; minItems?: number; maxItems?: number }
  const more = depth < DEEPEST ? chance.below(Math.min(3, maxItems - minItems + 1)) : 0
  return Array.from({ length: minItems + more }, () => schemaValue(items ?? {}, chance, depth + 1))
}

function numberValue({ minimum, maximum, type }: Json, chance: Chance): number {
  const low = typeof minimum === 'number' ? minimum : 0
  const high = Math.min(typeof maximum === 'number' ? maximum : low + 1_000, low + 1_000_000)
  const whole = low + chance.below(Math.max(1, high - low + 1))
  return type === 'number' && chance.hits(0.5) ? Math.min(high, whole + 0.25) : whole
}
