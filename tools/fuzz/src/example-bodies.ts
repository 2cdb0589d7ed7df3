import type { OwnNames } from '@gateway/testbed/example-request'
import { freeGraph, NO_RECEIVER } from './world.ts'

const at = '/api/v2/tenants/{tenant}'
const project = `${at}/projects/{project}`

const rpc = (method: string, params?: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
})
const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } }
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

/** Valid bodies that reach code which the documented example of an operation does not. */
export const exampleBodies: Record<string, (names: OwnNames) => object[]> = {
  'POST /v1/chat/completions': ({ product, sandbox, asset }) => {
    const user = (content: unknown) => ({ role: 'user', content })
    const chat = (more: object, ...messages: object[]) => ({
      model: product,
      messages: messages.length > 0 ? messages : [user('Hello')],
      max_tokens: 30,
      ...more,
    })
    return [
      chat({ tools: [weather], tool_choice: 'auto' }),
      chat({ tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } }),
      chat({ response_format: { type: 'json_object' } }),
      chat({
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'object', properties: { a: { type: 'string' } } } },
        },
      }),
      chat({ stop: ['a', 'b'], seed: 7, temperature: 0.5, top_p: 0.9, n: 1, user: 'someone' }),
      chat({ stream: true, stream_options: { include_usage: true } }),
      chat(
        {},
        user([
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: examplePng } },
        ]),
      ),
      chat({}, user([{ type: 'image_url', image_url: { url: `asset:${asset}`, detail: 'low' } }])),
      chat(
        { tools: [weather] },
        user('Weather?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
      ),
      chat({ model: sandbox }),
      chat({ model: sandbox, stream: true }),
    ]
  },
  'POST /v1/sandbox/{id}/mcp': () => [
    rpc('initialize', client),
    rpc('tools/list'),
    rpc('ping'),
    rpc('tools/call', { name: 'invoke_product', arguments: {} }),
    rpc('tools/call', { name: 'nothing', arguments: { topic: 'x' } }),
    rpc('resources/list'),
    rpc('nothing', {}, 'text'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    [rpc('ping'), rpc('tools/list', undefined, 2)],
    { jsonrpc: '2.0', id: 1, result: {} },
  ],
  'POST /api/v2/session': ({ email }) => [{ email, password: 'wrong password of someone' }],
  'POST /api/v2/products': ({ newProduct }) => [
    {
      id: newProduct,
      kind: 'image',
      name: 'Pictures',
      description: 'Draws.',
      ownedBy: 'acme',
      state: 'draft',
      pricing: { unit: 'request', request: '0.04' },
      providers: [{ provider: 'simulated', model: 'sim', priority: 1 }],
    },
  ],
  [`POST ${at}/keys`]: ({ project, product, sandbox }) => [
    { project, name: 'Listed', policy: 'listed', resources: [product, sandbox], expiresInDays: 1 },
    { project, name: 'Limited', limit: { micro: 1, reset: 'daily' } },
  ],
  [`POST ${at}/sandboxes/{sandbox}/revisions`]: () => [
    { graph: freeGraph },
    { graph: { ...freeGraph, nodes: [], edges: [] } },
    { graph: { ...freeGraph, edges: [...freeGraph.edges, ...freeGraph.edges] } },
    { graph: freeGraph, baseRevision: 1 },
  ],
  [`POST ${project}/webhooks`]: () => [{ url: NO_RECEIVER }],
  [`PATCH ${project}`]: () => [{ name: 'Another name' }, { assetRetentionDays: null }],
  [`PATCH ${at}/sandboxes/{sandbox}`]: () => [{ name: 'Another name' }, { mcpEnabled: false }, { suspended: true }],
}

/** One pixel, as a data URL. */
const examplePng =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
