import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { openApiDocument } from '@gateway/api/openapi-document'
import { refusals, typeOf } from '@gateway/api/refusals'

// The published declarations, which are self-contained: those from packages/api-client are in `api` next to them, and
// those of the contract are written out in one more file.

const clientFolder = path.join(import.meta.dirname, '../src')
const apiFolder = path.join(import.meta.dirname, '../../../packages/api-client/src')
const CONTRACT = 'contract.d.ts'

/**
 * Returns text by file name: the declarations of these entry points, and of all files that they reference.
 * @throws Error for an export without an explicit type, since each declaration is generated from its file alone
 */
export function declarations(entries: readonly string[]): Map<string, string> {
  const made = new Map([[CONTRACT, contractDeclaration()]])
  const add = (file: string) => {
    const name = publishedName(file)
    if (made.has(name)) return
    made.set(name, '') // files may reference each other
    const named: string[] = []
    const text = declared(file).replaceAll(/(?<=\bfrom ")[^"]+(?=")/g, (specifier) => {
      const target = targetOf(specifier, file)
      if (target !== null) named.push(target)
      const other = path.posix.relative(path.posix.dirname(name), target === null ? CONTRACT : publishedName(target))
      return (other.startsWith('.') ? other : `./${other}`).replace(/\.d\.ts$/, '.js')
    })
    made.set(name, text)
    named.forEach(add)
  }
  for (const entry of entries) add(path.join(clientFolder, `${entry}.ts`))
  return made
}

function declared(file: string): string {
  const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, 'utf8'), { sourcemap: false })
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join(' ')}`)
  return code.replaceAll(/^\s*override /gm, ' ') // not allowed in declarations
}

/** The referenced file; null for the contract. */
function targetOf(specifier: string, from: string): string | null {
  if (specifier.startsWith('@gateway/api/') || specifier === './contract-table.ts') return null
  const [, api] = /^@gateway\/api-client\/(.+)$/.exec(specifier) ?? []
  return api === undefined ? path.resolve(path.dirname(from), specifier) : path.join(apiFolder, `${api}.ts`)
}

function publishedName(file: string): string {
  const name = path.basename(file, '.ts')
  return path.dirname(file) === apiFolder ? `api/${name}.d.ts` : `${name}.d.ts`
}

// The published declaration of the contract: the table of packages/api-client/src/contract-table.ts and the refusals,
// written out from the description of the API.

interface Operation {
  parameters: { name: string; in: string; required?: boolean; schema: Schema; description?: string }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type Content = Record<string, { schema: Schema }>
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

function contractDeclaration(): string {
  const { paths, components } = openApiDocument() as unknown as Document
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${routeText(operation)};`,
    ),
  )
  const { RefusalBody: _, ...named } = components.schemas
  const shapes = Object.entries(named).flatMap(([name, schema]) => [
    `export type ${name} = ${typeText(schema)};`,
    ...Object.entries(schema.$defs ?? {}).map(([inner, its]) => `type ${inner} = ${typeText(its)};`),
  ])
  return [refusalTypes(), ...shapes, 'export interface ContractTable {', ...routes, '}', ''].join('\n')
}

function refusalTypes(): string {
  const types = new Set(Object.values(refusals).map(typeOf))
  const text = (values: Iterable<string>) => [...values].map((value) => JSON.stringify(value)).join(' | ')
  return `/** Each is reported at /docs/refusals of the service. */
export type RefusalCode = ${text(Object.keys(refusals))};
export interface RefusalBody {
  code: RefusalCode;
  type: ${text(types)};
  param: string | null;
  message: string;
  resolution: string;
  details?: Record<string, unknown>;
}`
}

const JSON_TYPE = 'application/json'
const LINES = 'application/x-ndjson'

function routeText({ parameters, requestBody, responses }: Operation): string {
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => JSON.stringify(name))
  const query = parameters.filter((one) => one.in === 'query')
  const key = parameters.find(({ name }) => name === 'Idempotency-Key')
  const content = requestBody?.content ?? {}
  const contents = Object.entries(responses).flatMap(([status, answer]) =>
    status.startsWith('2') ? [answer.content ?? {}] : [],
  )
  const all = (type: string) => [...new Set(contents.flatMap((one) => (one[type] ? [typeText(one[type].schema)] : [])))]
  const isBytesOrLines = contents.some((one) => Object.keys(one).length > 0 && !one[JSON_TYPE])
  const fields = {
    parameters: inPath.join(' | ') || 'never',
    query: query.length === 0 ? 'undefined' : queryText(query),
    body: content[JSON_TYPE] ? typeText(content[JSON_TYPE].schema) : 'undefined',
    bytes: content[JSON_TYPE]
      ? 'never'
      : Object.keys(content)
          .map((type) => JSON.stringify(type))
          .join(' | ') || 'never',
    idempotencyKey: key ? (key.required ? '"required"' : '"taken"') : '"none"',
    answer: all(JSON_TYPE).join(' | ') || (isBytesOrLines ? 'never' : 'undefined'),
    line: all(LINES).join(' | ') || 'never',
  }
  return `{ ${Object.entries(fields)
    .map(([name, type]) => `${name}: ${type};`)
    .join(' ')} }`
}

function queryText(query: Operation['parameters']): string {
  return typeText({
    type: 'object',
    properties: Object.fromEntries(
      query.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description !== undefined && { description }) },
      ]),
    ),
    required: query.filter(({ required }) => required).map(({ name }) => name),
  })
}

/** The part of JSON Schema that is used here. */
interface Schema {
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
function typeText(schema: Schema): string {
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
