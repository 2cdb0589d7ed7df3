import { readFileSync } from 'node:fs'
import path from 'node:path'

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
