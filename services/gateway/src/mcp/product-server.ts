import { Server } from '@modelcontextprotocol/server'
import type { CallProduct } from './call-product.ts'
import { describeTool } from './describe-tool.ts'
import type { Visit } from './visit.ts'

/** How long a client may keep what it was told of the tool: another revision may be activated at any moment. */
const KEEP = { ttlMs: 30_000, cacheScope: 'private' } as const

/**
 * A server for one request. Nothing here changes by itself, so it offers no notifications of changes, and schemas are those of the
 * active revision as they are.
 */
export function productServer(visit: Visit, callProduct: CallProduct): Server {
  const { id, name, revision } = visit.sandbox
  const server = new Server(
    { name: id, title: name, version: String(revision) },
    { capabilities: { tools: {} }, cacheHints: { 'tools/list': KEEP, 'server/discover': KEEP } },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [describeTool(visit.sandbox)] }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => callProduct(visit, params, mcpReq))
  return server
}
