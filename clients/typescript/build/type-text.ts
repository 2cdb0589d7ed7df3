/** The part of JSON Schema that is used here. */
export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema | boolean
  prefixItems?: Schema[]
  description?: string
}

/**
 * Writes a JSON Schema as a TypeScript type. Constraints that a type can't express, such as a minimum, are left out.
 * @throws Error for an unknown keyword that affects the type
 */
export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const some = schema.anyOf ?? schema.oneOf
  if (some) return union(some.map(typeText))
  if (schema.allOf) return schema.allOf.map((one) => `(${typeText(one)})`).join(' & ')
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeText({ ...schema, type })))
  return textOfType(schema)
}

function textOfType(schema: Schema): string {
  switch (schema.type) {
    case undefined:
      return 'unknown'
    case 'object':
      return objectText(schema)
    case 'array':
      return arrayText(schema)
    case 'integer':
      return 'number'
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type
    default:
      throw new Error(`There is no type for ${JSON.stringify(schema)}.`)
  }
}

function arrayText({ prefixItems, items }: Schema): string {
  if (prefixItems) return `[${prefixItems.map(typeText).join(', ')}]`
  return typeof items === 'object' ? `(${typeText(items)})[]` : 'unknown[]'
}

function objectText({ properties, required = [], additionalProperties }: Schema): string {
  if (!properties) {
    const values = typeof additionalProperties === 'object' ? typeText(additionalProperties) : 'unknown'
    return `Record<string, ${values}>`
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const isRequired = required.includes(name)
    const type = typeText(field)
    return `${comment(field)}${JSON.stringify(name)}${isRequired ? '' : '?'}: ${isRequired ? type : `${type} | undefined`};`
  })
  return fields.length === 0 ? 'Record<string, never>' : `{ ${fields.join(' ')} }`
}

function comment({ description }: Schema): string {
  return description === undefined ? '' : `/** ${description.replaceAll('*/', '*\\/')} */ `
}

function union(types: string[]): string {
  return [...new Set(types)].map((type) => (type.includes(' & ') ? `(${type})` : type)).join(' | ')
}
