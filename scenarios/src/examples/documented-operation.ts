import { readFileSync } from 'node:fs'
import path from 'node:path'

// The operations of docs/openapi.json, each with what its examples say.

export type Json = Record<string, unknown>

/** What is sent or answered under a content type. */
export interface Content {
  schema: Json
  example?: unknown
  /** Of bytes: in base64. */
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
  /** Such as `GET /v1/models/{id}`. */
  name: string
  method: string
  path: string
  /** Its documented success: statuses and content by content type. */
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

/** The content types in which it answers: bytes only where they are all it answers, and of these an image. */
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
