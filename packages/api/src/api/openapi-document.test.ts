import { expect, test } from 'vitest'
import { apiRoutes, openApiDocument } from './openapi-document.ts'

interface Operation {
  parameters: { name: string }[]
  security: object[]
  responses: Record<string, { headers?: object }>
}

const { paths, components } = openApiDocument() as {
  paths: Record<string, Record<string, Operation>>
  components: { headers: object }
}
const operations = apiRoutes.map(({ method, path }) => ({
  name: `${method} ${path}`,
  ...paths[path]![method.toLowerCase()]!,
}))
const namesOf = (chosen: typeof operations) => chosen.map(({ name }) => name).toSorted()

test('X-Service-Tag is described where it is read: calls that cost money, and their check', () => {
  const tagged = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'X-Service-Tag'))
  expect(namesOf(tagged)).toEqual([
    'POST /v1/chat/completions',
    'POST /v1/embeddings',
    'POST /v1/key/check',
    'POST /v1/messages',
    'POST /v1/responses',
    'POST /v1/sandbox/{id}/invoke',
    'POST /v1/sandbox/{id}/mcp',
  ])
})

test('x-api-key is an alternative where the gateway accepts it', () => {
  const alternative = operations.filter(({ security }) => security.some((one) => 'apiKey' in one))
  expect(namesOf(alternative)).toEqual([
    'GET /v1/models',
    'GET /v1/models/{id}',
    'POST /v1/messages',
    'POST /v1/messages/count_tokens',
  ])
  for (const { security } of alternative) expect(security).toEqual([{ key: [] }, { apiKey: [] }])
})

test('each refusal has its headers: the time to wait only where waiting helps, the challenge only with 401', () => {
  const of = (headers: string[]) =>
    Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const { responses } = operations.find(({ name }) => name === 'POST /v1/chat/completions')!
  const headersOf = Object.fromEntries(Object.entries(responses).map(([status, { headers }]) => [status, headers]))
  expect(headersOf).toMatchObject({
    401: of(['X-Request-Id', 'x-should-retry', 'WWW-Authenticate']),
    403: of(['X-Request-Id', 'x-should-retry']),
    409: of(['X-Request-Id', 'x-should-retry', 'Retry-After']),
    429: of(['X-Request-Id', 'x-should-retry', 'Retry-After']),
    500: of(['X-Request-Id', 'x-should-retry']),
    503: of(['X-Request-Id', 'x-should-retry', 'Retry-After']),
  })
  expect(headersOf[403]).toEqual(of(['X-Request-Id', 'x-should-retry']))
  for (const name of ['X-Request-Id', 'x-should-retry', 'Retry-After', 'WWW-Authenticate'])
    expect(components.headers).toHaveProperty(name)
  const { responses: revoking } = operations.find(({ name }) => name.endsWith('/keys/{key}/revoke'))!
  expect(revoking['409']!.headers).not.toHaveProperty('Retry-After')
})
