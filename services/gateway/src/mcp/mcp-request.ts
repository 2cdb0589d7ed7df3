import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthInfo } from '@modelcontextprotocol/server'
import type { ActiveSandbox } from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import type { Permit } from '../admission/limits.ts'

/** One request over MCP of a caller who may call this sandbox product. */
export interface McpRequest {
  caller: CallerQuestion
  sandbox: ActiveSandbox
  permit: Permit
  /** Aborts when the caller leaves. */
  disconnected: AbortSignal
  req: IncomingMessage
  res: ServerResponse
  /** Resolved when the execution that is asked for has begun, or never will. */
  begun: PromiseWithResolvers<void>
}

/** A request as the SDK passes it through. The SDK sees no key, not even its hash. */
export function authOf(request: McpRequest): AuthInfo {
  return { token: '', clientId: request.sandbox.project, scopes: [], extra: { request } }
}

/** The request that was given to `authOf`. */
export function requestOf(auth: AuthInfo | undefined): McpRequest {
  const request = auth?.extra?.['request']
  if (request === undefined) throw new Error('a request came to MCP without its caller')
  return request as McpRequest
}
