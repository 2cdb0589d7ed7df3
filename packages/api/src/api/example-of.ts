// Examples in the description of the API, taken from the examples of the shapes. A shape states its own (`.meta({
// examples })`); a composite shape, such as a page, is the example of its parts.

type Json = Record<string, unknown>

/** Returns the example of a JSON Schema, or undefined if neither it nor all of its required parts have one. */
export function exampleOf(schema: Json): unknown {
  const { examples, properties, items, anyOf } = schema as {
    examples?: unknown[]
    properties?: Record<string, Json>
    items?: Json
    anyOf?: Json[]
  }
  if (examples) return examples[0]
  if ('const' in schema) return schema['const']
  if (properties) return exampleOfObject(properties, (schema['required'] ?? []) as string[])
  if (items) return exampleOfList(items)
  if (anyOf) return exampleOfAny(anyOf)
  return [schema['type']].flat().includes('null') ? null : undefined
}

/** Returns the example of a response of this content type, or undefined for binary content. */
export function exampleOfContent(type: string, schema: Json): unknown {
  const all = (schema['examples'] ?? []) as unknown[]
  if (type === 'application/json' || typeof all[0] === 'string') return exampleOf(schema)
  if (type === 'application/x-ndjson') return all.map((line) => `${JSON.stringify(line)}\n`).join('')
  if (type === 'text/event-stream')
    return [...all.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
  return undefined
}

/** A one-pixel PNG. A JSON document can only hold its bytes as base64. */
export const examplePng = {
  summary: 'One pixel, shown as base64; send the bytes themselves',
  value: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
}

/** Leaves out optional fields that have no example. */
function exampleOfObject(properties: Record<string, Json>, required: readonly string[]): Json | undefined {
  const parts = Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)] as const)
  if (parts.some(([name, part]) => part === undefined && required.includes(name))) return undefined
  return Object.fromEntries(
    parts.filter(([name, part]) => required.includes(name) || (part !== undefined && part !== null)),
  )
}

function exampleOfAny(schemas: readonly Json[]): unknown {
  const found = schemas.map((schema) => exampleOf(schema))
  return found.find((one) => one !== undefined && one !== null) ?? (found.includes(null) ? null : undefined)
}

/** One example for each form that an item may take. */
function exampleOfList(items: Json): unknown[] | undefined {
  if (items['examples']) return items['examples'] as unknown[]
  const item = exampleOf(items)
  return item === undefined ? undefined : [item]
}
