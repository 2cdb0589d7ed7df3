import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthInfo } from '@modelcontextprotocol/server'
import type { SandboxFacts } from '@gateway/contracts/flow-reads'
import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import type { Place } from '../admit/concurrency-limiter.ts'

/** One request of a caller who may call this sandbox product over MCP. */
export interface Visit {
  caller: CallerQuestion
  sandbox: SandboxFacts
  place: Place
  /** Aborts when he leaves. */
  gone: AbortSignal
  req: IncomingMessage
  res: ServerResponse
  /** Resolved when the run that he asks for has begun, or never will. */
  begun: PromiseWithResolvers<void>
}

/** A visit as the SDK passes it through. It knows no key, not even by its hash. */
export function authOf(visit: Visit): AuthInfo {
  return { token: '', clientId: visit.sandbox.project, scopes: [], extra: { visit } }
}

/** The visit of a request that came through `authOf`. */
export function visitOf(auth: AuthInfo | undefined): Visit {
  const visit = auth?.extra?.['visit']
  if (visit === undefined) throw new Error('a request came to MCP without its caller')
  return visit as Visit
}
