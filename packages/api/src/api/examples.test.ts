import { describe, expect, test } from 'vitest'
import type { ApiAnswer, ApiRoute } from './api-route.ts'
import { exampleOf } from './example-of.ts'
import { apiRoutes, openApiDocument } from './openapi-document.ts'

// Every operation shows what it is sent and what it answers. scenarios/documented-examples.scenario.ts executes them all.

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
const isBytes = (type: string) => /^(image|audio)\//.test(type)

describe.for(rows)('%s', ([, route]) => {
  const { parameters, requestBody, responses } = operationOf(route)
  const examplesIn = (place: string) =>
    Object.fromEntries(parameters.filter((one) => one.in === place).map(({ name, example }) => [name, example]))

  test('has an example of each parameter that is needed, and of its query', () => {
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

  test('has an example of each answer', () => {
    for (const [status, answer] of Object.entries<ApiAnswer>(route.answers)) {
      const content = responses[status]!.content ?? {}
      const without = Object.keys(content).filter((type) => content[type]!.example === undefined && !isBytes(type))
      expect(without).toEqual([])
      const { example } = content['application/json'] ?? {}
      if (answer.body) expect(answer.body.parse(example)).toEqual(example)
    }
  })
})

test('no example looks like the id or the secret of anybody', () => {
  expect(JSON.stringify(document)).not.toMatch(/[a-z]{3}[_-][0-9a-z]{26}|sv[cut]_[A-Za-z0-9_-]{20}/)
})

describe('the example of a shape', () => {
  const named = { type: 'string', examples: ['Ada'] }

  test('is its own, or that of its parts', () => {
    expect(exampleOf({ type: 'object', examples: [{ a: 1 }], properties: { a: named } })).toEqual({ a: 1 })
    const parts = { name: named, kind: { const: 'user' }, team: { type: ['string', 'null'] } }
    const list = { type: 'array', items: { type: 'object', properties: parts, required: Object.keys(parts) } }
    expect(exampleOf(list)).toEqual([{ name: 'Ada', kind: 'user', team: null }])
    expect(exampleOf({ type: 'array', items: { examples: ['Ada', 'Grace'] } })).toEqual(['Ada', 'Grace'])
  })

  test('leaves out what may be left out and has none', () => {
    const properties = { name: named, age: { type: 'integer' }, team: { type: ['string', 'null'] } }
    expect(exampleOf({ type: 'object', properties, required: ['name'] })).toEqual({ name: 'Ada' })
    expect(exampleOf({ type: 'object', properties, required: ['age'] })).toBeUndefined()
  })

  test('is null where it may be null and nothing else is said', () => {
    expect(exampleOf({ anyOf: [{ type: 'object', properties: {}, examples: [{}] }, { type: 'null' }] })).toEqual({})
    expect(exampleOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toBeNull()
  })
})
