import { exampleIds, exampleValues } from '@gateway/api/example-ids'
import { formsOf, type Operation } from './documented-operation.ts'

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
