import type { Asked } from './request-of.ts'
import { PNG, type Ids, type KeyName } from './isolation-fixture.ts'

// The response of each public route to each caller when the request names resources of the own project (rules §2.3, §2.5).

export interface GatewayRow extends Asked {
  route: string
  says: Record<KeyName | 'anonymous' | 'owner', string>
}

/** Responses to callers that are refused regardless of the request. */
const refused = {
  legacyKey: '403 key_unbound',
  revokedKey: '401 key_revoked',
  expiredKey: '401 key_expired',
  rotatedKey: '401 key_revoked',
  anonymous: '401 key_missing',
  owner: '401 key_invalid',
}
const row = (route: string, own: string, others: string, asked: Asked = {}): GatewayRow => ({
  route,
  says: { key: own, neighbourKey: others, otherTenantKey: others, ...refused },
  ...asked,
})

const messages = [{ role: 'user', content: 'Hello' }]
const chat = ({ product }: Ids) => ({ model: product, messages, max_tokens: 5 })
const respond = ({ product }: Ids) => ({ model: product, input: 'Hello', max_output_tokens: 5 })
const embed = ({ embedder }: Ids) => ({ model: embedder, input: 'Hello' })
const selector = (name: string) => (ids: Ids) => ({ [name]: ids.project })
const run = () => ({ input: { text: 'Hello' } })
const keyed = { 'idempotency-key': 'isolation-0001' }
const tools = () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const toolCall = () => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'invoke_product', arguments: run().input },
})
const mcp = { ...keyed, accept: 'application/json, text/event-stream' }
const image = { body: () => PNG, headers: () => ({ 'content-type': 'image/png' }) }
const MISMATCH = '403 project_mismatch'
const NO_MODEL = '404 model_not_found'
const NO_SANDBOX = '404 sandbox_not_found'

/** Routes that ignore credentials: every caller gets the same response. */
export const openGatewayRoutes: Record<string, string> = {
  'GET /': '302',
  'GET /health/live': '200',
  'GET /health/ready': '200',
  'GET /docs': '200',
  'GET /docs/openapi.json': '200',
  'GET /docs/*page': '404 not_found', // the parameter is a page name
  'GET /llms.txt': '200',
  'GET /openapi.json': '200',
}

export const gatewayMatrix: GatewayRow[] = [
  row('GET /v1/models', '200', '200'),
  row('GET /v1/models', '200', MISMATCH, { headers: selector('x-service-project') }),
  row('GET /v1/models/*id', '200', NO_MODEL, { path: { id: 'product' } }),
  row('GET /v1/models/*id', '200', MISMATCH, { path: { id: 'product' }, headers: selector('x-project-id') }),
  row('GET /v1/key', '200', '200'),
  row('GET /v1/key', '200', MISMATCH, { headers: selector('x-service-project') }),
  row('POST /v1/key/check', '200', '200', { body: () => ({ model: 'acme/none' }) }), // the body reports the refusal
  row('POST /v1/key/check', '200', MISMATCH, {
    body: () => ({ model: 'acme/none' }),
    headers: selector('x-project-id'),
  }),
  row('GET /v1/invocations/:id', '200', '404 invocation_not_found', { path: { id: 'invocation' } }),
  row('GET /v1/invocations/:id', '200', MISMATCH, { path: { id: 'invocation' }, headers: selector('x-project-id') }),
  row('GET /v1/embeddings/models', '200', '200'),
  row('GET /v1/embeddings/models', '200', MISMATCH, { headers: selector('x-service-project') }),
  row('POST /v1/embeddings', NO_MODEL, NO_MODEL, { body: ({ product }) => ({ model: product, input: 'Hello' }) }), // a chat product
  row('POST /v1/embeddings', '200', NO_MODEL, { body: embed }),
  row('POST /v1/embeddings', '200', MISMATCH, { body: (ids) => ({ ...embed(ids), project_id: ids.project }) }),
  row('POST /v1/embeddings', '200', MISMATCH, { body: embed, headers: selector('x-service-project') }),
  row('POST /v1/chat/completions', '200', NO_MODEL, { body: chat }),
  row('POST /v1/chat/completions', '200', NO_MODEL, { body: (ids) => ({ ...chat(ids), stream: true }) }),
  row('POST /v1/chat/completions', '200', MISMATCH, { body: (ids) => ({ ...chat(ids), project_id: ids.project }) }),
  row('POST /v1/chat/completions', '200', MISMATCH, { body: chat, headers: selector('x-service-project') }),
  row('POST /v1/responses', '200', NO_MODEL, { body: respond }),
  row('POST /v1/responses', '200', NO_MODEL, { body: (ids) => ({ ...respond(ids), stream: true }) }),
  row('POST /v1/responses', '200', NO_MODEL, { body: ({ sandbox }) => ({ model: sandbox, input: 'Hello' }) }),
  row('POST /v1/responses', '200', MISMATCH, { body: (ids) => ({ ...respond(ids), project_id: ids.project }) }),
  row('POST /v1/responses', '200', MISMATCH, { body: respond, headers: selector('x-service-project') }),
  row('POST /v1/messages', '200', NO_MODEL, { body: chat }),
  row('POST /v1/messages', '200', NO_MODEL, { body: (ids) => ({ ...chat(ids), stream: true }) }),
  row('POST /v1/messages', '200', NO_MODEL, { body: ({ sandbox }) => ({ model: sandbox, messages, max_tokens: 5 }) }),
  row('POST /v1/messages', '200', MISMATCH, { body: (ids) => ({ ...chat(ids), project_id: ids.project }) }),
  row('POST /v1/messages', '200', MISMATCH, { body: chat, headers: selector('x-service-project') }),
  row('POST /v1/messages/count_tokens', '200', NO_MODEL, { body: ({ product }) => ({ model: product, messages }) }),
  row('POST /v1/messages/count_tokens', '200', MISMATCH, {
    body: ({ product }) => ({ model: product, messages }),
    headers: selector('x-project-id'),
  }),
  row('GET /v1/models/*id', '200', NO_MODEL, { path: { id: 'sandbox' } }),
  row('POST /v1/chat/completions', '200', NO_MODEL, { body: ({ sandbox }) => ({ model: sandbox, messages }) }),
  row('POST /v1/chat/completions', '200', NO_MODEL, {
    body: ({ sandbox }) => ({ model: sandbox, messages, stream: true }),
  }),
  row('POST /v1/sandbox/:id/invoke', '200', NO_SANDBOX, { path: { id: 'sandbox' }, body: run, headers: () => keyed }),
  row('POST /v1/sandbox/:id/invoke', '200', NO_SANDBOX, {
    path: { id: 'sandbox' },
    body: run,
    headers: () => ({ ...keyed, accept: 'application/x-ndjson' }),
  }),
  row('POST /v1/sandbox/:id/invoke', '200', MISMATCH, {
    path: { id: 'sandbox' },
    body: (ids) => ({ ...run(), project_id: ids.project }),
    headers: () => keyed,
  }),
  row('POST /v1/sandbox/:id/estimate', '200', NO_SANDBOX, { path: { id: 'sandbox' }, body: run }),
  row('POST /v1/sandbox/:id/estimate', '200', MISMATCH, {
    path: { id: 'sandbox' },
    body: (ids) => ({ ...run(), project_id: ids.project }),
  }),
  row('POST /v1/sandbox/:id/mcp', '200', NO_SANDBOX, { path: { id: 'sandbox' }, body: tools, headers: () => mcp }),
  row('POST /v1/sandbox/:id/mcp', '200', NO_SANDBOX, { path: { id: 'sandbox' }, body: toolCall, headers: () => mcp }),
  row('POST /v1/sandbox/:id/mcp', '200', MISMATCH, {
    path: { id: 'sandbox' },
    body: toolCall,
    headers: (ids) => ({ ...mcp, ...selector('x-service-project')(ids) }),
  }),
  row('POST /v1/sandbox/:id/executions/:execution/cancel', '200', '404 execution_not_found', {
    path: { id: 'sandbox' },
  }),
  row('POST /v1/sandbox/:id/executions/:execution/cancel', '200', MISMATCH, {
    path: { id: 'sandbox' },
    headers: selector('x-service-project'),
  }),
  row('GET /v1/executions/:id', '200', '404 execution_not_found', { path: { id: 'execution' } }),
  row('GET /v1/executions/:id', '200', MISMATCH, { path: { id: 'execution' }, headers: selector('x-project-id') }),
  row('GET /v1/executions/:id/progress', '200', '404 execution_not_found', { path: { id: 'execution' } }),
  row('GET /v1/executions/:id/progress', '200', MISMATCH, {
    path: { id: 'execution' },
    headers: selector('x-service-project'),
  }),
  row('POST /v1/assets', '201', '201', image), // always into the caller's own project
  row('POST /v1/assets', '201', MISMATCH, {
    ...image,
    headers: (ids) => ({ ...image.headers(), ...selector('x-service-project')(ids) }),
  }),
  row('GET /v1/assets/:id', '200', '404 asset_not_found', { path: { id: 'asset' } }),
  row('GET /v1/assets/:id', '200', MISMATCH, { path: { id: 'asset' }, headers: selector('x-service-project') }),
]
