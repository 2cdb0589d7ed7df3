import { exampleIds, exampleValues } from '@gateway/api/example-ids'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const examples = { ...exampleIds, ...exampleValues }
export type ExampleName = keyof typeof examples
/** Real values that replace the example names. */
export type OwnNames = Record<ExampleName, string>

export interface ExampleRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: unknown
}

/**
 * The example request of an operation with its example IDs and values replaced by real ones.
 * @param form content type of the response; defaults to the first documented one
 */
export function exampleRequest(operation: Operation, own: OwnNames, form = formsOf(operation)[0]): ExampleRequest {
  const put = replacing(own)
  const query = new URLSearchParams()
  const headers: Record<string, string> = { ...(form && { accept: form }) }
  let path = operation.path
  for (const { name, in: place, example } of operation.parameters) {
    if (example === undefined) continue
    const value = String(put(example))
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    if (place === 'query') query.set(name, value)
    if (place === 'header') headers[name.toLowerCase()] = value
  }
  if (form === 'text/csv') query.set('format', 'csv')
  const [type, body] = exampleBody(operation)
  if (type !== undefined) headers['content-type'] = type
  return {
    method: operation.method,
    path: query.size > 0 ? `${path}?${query.toString()}` : path,
    headers,
    body: form === 'text/event-stream' ? { ...(put(body) as object), stream: true } : put(body),
  }
}

function exampleBody({ requestBody }: Operation): [type?: string, body?: unknown] {
  for (const [type, { example, examples: files = {} }] of Object.entries(requestBody?.content ?? {})) {
    const [file] = Object.values(files)
    if (file) return [type, Buffer.from(file.value, 'base64')]
    if (example !== undefined) return [type, example]
  }
  return []
}

/** Replaces each example value by the real one. */
function replacing(own: OwnNames): (value: unknown) => unknown {
  const owned = new Map<unknown, string>(
    Object.entries(examples).map(([name, example]) => [example, own[name as ExampleName]]),
  )
  return function put(value): unknown {
    if (typeof value === 'string') return owned.get(value) ?? value
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    if (Array.isArray(value)) return value.map(put)
    return Object.fromEntries(Object.entries(value).map(([field, part]) => [field, put(part)]))
  }
}

// The operations of docs/openapi.json with their examples.

export type Json = Record<string, unknown>

/** Content of a request or response for one content type. */
export interface Content {
  schema: Json
  example?: unknown
  /** Base64 examples of binary content. */
  examples?: Record<string, { value: string }>
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  example?: string | number
}

interface Described {
  security: Json[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { content?: Record<string, Content> }>
}

export interface Operation extends Described {
  /** Method and path, such as `GET /v1/models/{id}`. */
  name: string
  method: string
  path: string
  /** Content by content type for each documented success status. */
  successes: Record<string, Record<string, Content>>
}

export const apiDocument = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8'),
) as { paths: Record<string, Record<string, Described>>; components: { schemas: Record<string, Json> } }

export const operations: Operation[] = Object.entries(apiDocument.paths).flatMap(([route, methods]) =>
  Object.entries(methods).map(([verb, described]) => {
    const method = verb.toUpperCase()
    return { ...described, name: `${method} ${route}`, method, path: route, successes: successesOf(described) }
  }),
)

export function operationNamed(name: string): Operation {
  const found = operations.find((operation) => operation.name === name)
  if (!found) throw new Error(`${name} is not documented`)
  return found
}

/** Content types to request: every text type, or the first binary type if there is no text type. */
export function formsOf({ name, successes }: Operation): string[] {
  const types = [...new Set(Object.values(successes).flatMap((content) => Object.keys(content)))]
  const texts = types.filter((type) => !/^(image|audio)\//.test(type))
  if (name.endsWith('/mcp')) return ['application/json'] // the server chooses
  return texts.length > 0 ? texts : types.slice(0, 1)
}

function successesOf({ responses }: Described): Operation['successes'] {
  const found = Object.entries(responses).filter(([status]) => /^[23]/.test(status))
  return Object.fromEntries(found.map(([status, { content = {} }]) => [status, content]))
}
