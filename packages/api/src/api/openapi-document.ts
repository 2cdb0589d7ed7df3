import { z } from 'zod'
import { refusals } from '../refusals.ts'
import type { RefusalCode } from '../refusal.ts'
import { bytesShape, refusalAnswer } from './answer-shapes.ts'
import type { ApiRoute } from './api-route.ts'
import { exampleIds } from '../example-ids.ts'
import { tenant } from './console-rows.ts'
import { consoleRoutes } from './console-routes.ts'
import { flowRoutes } from './flow-routes.ts'
import { gatewayRoutes } from './gateway-routes.ts'
import { namedAnswers, namedBodies } from './named-shapes.ts'

// The description of the public API, OpenAPI 3.1, generated from its rows and their contracts. The console mounts these
// rows; a test compares them with the routes that the gateway serves (scenarios/documented-routes.test.ts).

/** All rows of the API. */
export const apiRoutes: readonly ApiRoute[] = [gatewayRoutes, flowRoutes, consoleRoutes].flatMap((rows) =>
  Object.values<ApiRoute>(rows),
)

type Json = Record<string, unknown>

function securityOf({ by, scopes = [], path }: ApiRoute): Json[] {
  const key: Json[] = by === 'key' || by === 'key or user' ? [{ key: [] }] : []
  if (/^\/v1\/(messages|models)(\/|$)/.test(path)) key.push({ apiKey: [] })
  if (by === 'key' || by === 'anyone') return key
  if (scopes === 'session') return [...key, { session: [] }]
  return [...key, { personalToken: [...scopes] }, { accessToken: [] }, { session: [] }]
}

const anybody: RefusalCode[] = ['method_not_allowed', 'internal_error', 'overloaded', 'unavailable']
const keyInstances: RefusalCode[] = [
  'duplicate_header',
  'key_missing',
  'key_invalid',
  'key_revoked',
  'key_expired',
  'key_paused',
  'key_unbound',
  'key_issuer_denied',
  'project_mismatch',
]
const users: RefusalCode[] = ['session_missing', 'token_invalid', 'not_permitted', 'not_found']
const always: Record<ApiRoute['by'], RefusalCode[]> = {
  key: [...keyInstances, ...anybody],
  user: [...users, ...anybody],
  'key or user': [...users, 'key_invalid', 'key_revoked', 'key_expired', 'key_paused', ...anybody],
  anyone: anybody,
}

function refusalsOfTokens({ path, scopes = [] }: ApiRoute): RefusalCode[] {
  const ofScopes: RefusalCode[] =
    scopes === 'session' ? ['session_required'] : scopes.length > 0 ? ['scope_missing'] : []
  return path.startsWith(tenant) ? [...ofScopes, 'second_factor_required'] : ofScopes
}

/** The whole document, as served at /openapi.json. */
export function openApiDocument(routes: readonly ApiRoute[] = apiRoutes): Json {
  const schemas = { ...schemasOf(namedBodies, 'input'), ...schemasOf(namedAnswers, 'output') }
  const refer = referrer(schemas)
  const paths: Record<string, Json> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = refer(operation(route))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Project-bound model gateway',
      version: '1',
      description:
        'Call hosted text models with a key that is bound to one project. Point any client that speaks chat completions at `/v1`. Amounts whose names end in `Micro` are micro-USD, millionths of a US dollar. Every response has an `X-Request-Id`; every refusal says how to fix it.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, refer(schema, true)])),
      headers: headersOfRefusals,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_…', description: 'A key of a project' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key, as clients of Anthropic send it',
        },
        personalToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svu_…',
          description: 'A personal token with the scopes listed',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svt_…',
          description: 'A token of an organization or project, with the listed permissions',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-svc_session',
          description: 'The session cookie of the web console; named svc_session without https',
        },
      },
    },
  }
}

function operation(route: ApiRoute): Json {
  const { method, path, tag, summary, description, by, answers } = route
  const content = bodyContent(route)
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase()).replaceAll(/\W/g, '')}`,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: securityOf(route),
    parameters: [...pathParameters(route), ...headerParameters(route), ...queryParameters(route)],
    ...(content && { requestBody: { required: true, content } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, response(answer, route.example?.answer)]),
      ),
      ...refusalResponses([...always[by], ...refusalsOfTokens(route), ...(route.refusals ?? [])], route.refusalShape),
    },
  }
}

function bodyContent({ body, bytes, example = {} }: ApiRoute): Json | null {
  if (bytes) return Object.fromEntries(bytes.map((type) => [type, bytesContent(type)]))
  return body ? json(schemaOf(body, 'input'), example.body) : null
}

function bytesContent(type: string): Json {
  return { schema: schemaOf(bytesShape, 'input'), ...(type === 'image/png' && { examples: { pixel: examplePng } }) }
}

function response(
  { description, body, also = {}, headers = {} }: ApiRoute['answers'][number],
  example?: unknown,
): Json {
  const content: Json = body ? json(schemaOf(body, 'output'), example) : {}
  for (const [type, other] of Object.entries(also)) content[type] = media(type, schemaOf(other, 'output'))
  return {
    description,
    headers: {
      'X-Request-Id': header('ID of this response, for support'),
      ...Object.fromEntries(Object.entries(headers).map(([name, meaning]) => [name, header(meaning)])),
    },
    ...(Object.keys(content).length > 0 && { content }),
  }
}

/** One response per status. OpenAPI allows only one, so the description lists the codes. */
function refusalResponses(codes: readonly RefusalCode[], shape: z.ZodType = refusalAnswer): Json {
  const byStatus = Map.groupBy(new Set(codes), (code) => refusals[code].status)
  const statuses = [...byStatus.keys()].toSorted((one, other) => one - other)
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: (byStatus.get(status) ?? []).map((code) => `\`${code}\``).join(', '),
        headers: refusalHeaders(status, byStatus.get(status) ?? []),
        content: { 'application/json': { schema: schemaOf(shape, 'output') } },
      },
    ]),
  )
}

/** Headers of refusals (rules §2.2), by name. */
const headersOfRefusals = {
  'X-Request-Id': header('ID of this response, for support'),
  'x-should-retry': header('`false` if a retry cannot help'),
  'Retry-After': header(
    'Seconds to wait before a retry, from 1 to 30 even if the whole wait is longer; after wrong passwords the whole wait',
  ),
  'WWW-Authenticate': header('`Bearer`'),
}

function refusalHeaders(status: number, codes: readonly RefusalCode[]): Json {
  const waits = codes.some((code) => 'retryAfterMs' in refusals[code])
  const names = [
    'X-Request-Id',
    'x-should-retry',
    ...(waits ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
  ]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function pathParameters({ path, parameters = {}, example }: ApiRoute): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(parameters[name] && { description: parameters[name] }),
    schema: { type: 'string' },
    ...withExample(example?.path?.[name] ?? (exampleIds as Record<string, string>)[name]),
  }))
}

function headerParameters({ headers = {} }: ApiRoute): Json[] {
  return Object.entries(headers).map(([name, { description, required = false, pattern, example }]) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string', ...(pattern && { pattern }) },
    ...withExample(example),
  }))
}

function queryParameters({ query, example }: ApiRoute): Json[] {
  if (!query) return []
  const whole = schemaOf(query, 'input')
  const { properties = {}, required = [] } = whole as { properties?: Record<string, Json>; required?: string[] }
  const shown = (example?.query ?? exampleOf(whole) ?? {}) as Json
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
      ...withExample(shown[name]),
    }
  })
}

/** JSON Schema cannot express rules between fields; the refusal states them. Responses may gain fields later. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override({ zodSchema, jsonSchema }) {
      // zod leaves examples out where a field is transformed on parsing. Ours show the input.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {}
      if (Array.isArray(examples)) jsonSchema.examples = examples
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return rest
}

function schemasOf(shapes: Record<string, z.ZodType>, io: 'input' | 'output'): Record<string, Json> {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOf(shape, io)]))
}

/** Replaces each occurrence of a named schema by a reference; `itself` exempts the root. */
function referrer(schemas: Record<string, Json>) {
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]))
  return function refer(node: unknown, itself = false): unknown {
    if (typeof node !== 'object' || node === null) return node
    const name = itself ? undefined : names.get(JSON.stringify(node))
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    if (Array.isArray(node)) return node.map((one) => refer(one))
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, refer(value)]))
  }
}

const json = (schema: Json, example?: unknown): Json => ({
  'application/json': media('application/json', schema, example),
})
const media = (type: string, schema: Json, example = exampleOfContent(type, schema)): Json => ({
  schema,
  ...withExample(example),
})
const withExample = (example: unknown): Json => (example === undefined ? {} : { example })
function header(description: string): Json {
  return { description, schema: { type: 'string' } }
}

// Examples in the description of the API, taken from the examples of the shapes. A shape states its own (`.meta({
// examples })`); a composite shape, such as a page, is the example of its parts.

type JsonValue = Record<string, unknown>

/** Returns the example of a JSON Schema, or undefined if neither it nor all of its required parts have one. */
export function exampleOf(schema: JsonValue): unknown {
  const { examples, properties, items, anyOf } = schema as {
    examples?: unknown[]
    properties?: Record<string, JsonValue>
    items?: JsonValue
    anyOf?: JsonValue[]
  }
  if (examples) return examples[0]
  if ('const' in schema) return schema['const']
  if (properties) return exampleOfObject(properties, (schema['required'] ?? []) as string[])
  if (items) return exampleOfList(items)
  if (anyOf) return exampleOfAny(anyOf)
  return [schema['type']].flat().includes('null') ? null : undefined
}

/** Returns the example of a response of this content type, or undefined for binary content. */
function exampleOfContent(type: string, schema: JsonValue): unknown {
  const all = (schema['examples'] ?? []) as unknown[]
  if (type === 'application/json' || typeof all[0] === 'string') return exampleOf(schema)
  if (type === 'application/x-ndjson') return all.map((line) => `${JSON.stringify(line)}\n`).join('')
  if (type === 'text/event-stream')
    return [...all.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
  return undefined
}

/** A one-pixel PNG. A JSON document can only hold its bytes as base64. */
const examplePng = {
  summary: 'One pixel, shown as base64; send the bytes themselves',
  value: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
}

/** Leaves out optional fields that have no example. */
function exampleOfObject(properties: Record<string, JsonValue>, required: readonly string[]): JsonValue | undefined {
  const parts = Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)] as const)
  if (parts.some(([name, part]) => part === undefined && required.includes(name))) return undefined
  return Object.fromEntries(
    parts.filter(([name, part]) => required.includes(name) || (part !== undefined && part !== null)),
  )
}

function exampleOfAny(schemas: readonly JsonValue[]): unknown {
  const found = schemas.map((schema) => exampleOf(schema))
  return found.find((one) => one !== undefined && one !== null) ?? (found.includes(null) ? null : undefined)
}

/** One example for each form that an item may take. */
function exampleOfList(items: JsonValue): unknown[] | undefined {
  if (items['examples']) return items['examples'] as unknown[]
  const item = exampleOf(items)
  return item === undefined ? undefined : [item]
}
