import { expect, test } from 'vitest'
import { apiRoutes, openApiDocument } from './openapi-document.ts'

interface Operation {
  parameters: { name: string }[]
  security: object[]
}

const { paths } = openApiDocument() as { paths: Record<string, Record<string, Operation>> }
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
