import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthInfo } from '@modelcontextprotocol/server'
import type { Id } from '@gateway/api/ids'
import type { ActiveSandbox } from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'

/** An MCP request of a caller that is authorized for this sandbox product. */
export interface McpRequest {
  caller: CallerQuestion
  sandbox: ActiveSandbox
  /** Of the next call: that of the request, and for more calls in its message new ones. */
  nextRequestId(): Id<'req'>
  /** Aborts when the caller disconnects. */
  disconnected: AbortSignal
  req: IncomingMessage
  res: ServerResponse
  /** Resolved once the requested execution has started, or can no longer start. */
  begun: PromiseWithResolvers<void>
}

/** Wraps a request for the SDK to pass through. The SDK never sees the key, not even its hash. */
export function authOf(request: McpRequest): AuthInfo {
  return { token: '', clientId: request.sandbox.project, scopes: [], extra: { request } }
}

/** Returns the request passed to `authOf`. */
export function requestOf(auth: AuthInfo | undefined): McpRequest {
  const request = auth?.extra?.['request']
  if (request === undefined) throw new Error('an MCP request has no caller')
  return request as McpRequest
}
