import { describe, expect, test } from 'vitest'
import type { ApiAnswer, ApiRoute } from './api-route.ts'
import { exampleOf, apiRoutes, openApiDocument } from './openapi-document.ts'

// Every operation has an example of its request and its response. scenarios/documented-examples.scenario.ts runs them
// all.

type Content = Record<string, { example?: unknown; examples?: object }>
interface Operation {
  parameters: { name: string; in: string; required: boolean; example?: unknown }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}

const document = openApiDocument()
const paths = document['paths'] as Record<string, Record<string, Operation>>
const operationOf = ({ method, path }: ApiRoute) => paths[path]![method.toLowerCase()]!
const rows = apiRoutes.map((route) => [`${route.method} ${route.path}`, route] as const)
const isBytes = (type: string) => /^(image|audio|application\/pdf)/.test(type)

describe.for(rows)('%s', ([, route]) => {
  const { parameters, requestBody, responses } = operationOf(route)
  const examplesIn = (place: string) =>
    Object.fromEntries(parameters.filter((one) => one.in === place).map(({ name, example }) => [name, example]))

  test('has an example of each required parameter and of its query', () => {
    for (const { name, required, example } of parameters)
      if (required) expect([name, example]).toEqual([name, expect.any(String)])
    if (!route.query) return
    const query = Object.fromEntries(Object.entries(examplesIn('query')).filter(([, example]) => example !== undefined))
    expect(query).not.toEqual({})
    expect(route.query.safeParse(query).error).toBeUndefined()
  })

  test('has an example of its body', () => {
    if (route.bytes) expect(requestBody!.content['image/png']!.examples).toBeDefined()
    if (!route.body) return
    const { example } = requestBody!.content['application/json']!
    expect(example).toBeDefined()
    expect(route.body.safeParse(example).error).toBeUndefined()
  })

  test('has an example of each response', () => {
    for (const [status, answer] of Object.entries<ApiAnswer>(route.answers)) {
      const content = responses[status]!.content ?? {}
      const without = Object.keys(content).filter((type) => content[type]!.example === undefined && !isBytes(type))
      expect(without).toEqual([])
      const { example } = content['application/json'] ?? {}
      if (answer.body) expect(answer.body.parse(example)).toEqual(example)
    }
  })
})

test('no example looks like a real id or secret', () => {
  expect(JSON.stringify(document)).not.toMatch(/[a-z]{3}[_-][0-9a-z]{26}|sv[cuts]_[A-Za-z0-9_-]{20}/)
})

describe('exampleOf', () => {
  const named = { type: 'string', examples: ['Ada'] }

  test('returns the example of a shape, or one composed of its parts', () => {
    expect(exampleOf({ type: 'object', examples: [{ a: 1 }], properties: { a: named } })).toEqual({ a: 1 })
    const parts = { name: named, kind: { const: 'user' }, team: { type: ['string', 'null'] } }
    const list = { type: 'array', items: { type: 'object', properties: parts, required: Object.keys(parts) } }
    expect(exampleOf(list)).toEqual([{ name: 'Ada', kind: 'user', team: null }])
    expect(exampleOf({ type: 'array', items: { examples: ['Ada', 'Grace'] } })).toEqual(['Ada', 'Grace'])
  })

  test('leaves out optional fields without an example', () => {
    const properties = { name: named, age: { type: 'integer' }, team: { type: ['string', 'null'] } }
    expect(exampleOf({ type: 'object', properties, required: ['name'] })).toEqual({ name: 'Ada' })
    expect(exampleOf({ type: 'object', properties, required: ['age'] })).toBeUndefined()
  })

  test('returns null for a nullable shape without an example', () => {
    expect(exampleOf({ anyOf: [{ type: 'object', properties: {}, examples: [{}] }, { type: 'null' }] })).toEqual({})
    expect(exampleOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toBeNull()
  })
})
