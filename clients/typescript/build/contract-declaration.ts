import { openApiDocument } from '@gateway/api/openapi-document'
import { refusals } from '@gateway/api/refusals'
import { typeText, type Schema } from './type-text.ts'

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

export function contractDeclaration(): string {
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
  const types = new Set(Object.values(refusals).map(({ type }) => type))
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
