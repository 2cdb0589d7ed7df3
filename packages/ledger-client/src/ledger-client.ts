import { isSpanContextValid, SpanKind, type Span } from '@opentelemetry/api'
import { Pool } from 'undici'
import { settlesWithin } from '@gateway/service-kit/async/with-timeout'
import {
  itemNames,
  itemsEndpoint,
  ledgerItems,
  type ItemName,
  type ItemOf,
  type ItemsOfKind,
  type OutcomeOf,
} from '@gateway/contracts/ledger-items'
import {
  ledgerOperations,
  operationNames,
  type OperationName,
  type OperationRow,
  type RequestOf,
  type ResponseOf,
} from '@gateway/contracts/ledger-operations'
import type { ServiceName } from '@gateway/contracts/ledger-reads'
import { withSpan } from '@gateway/service-kit/process/spans'
import { callOperation, type Connection } from './call-operation.ts'
import { openRequestBatcher } from './request-batcher.ts'
import { openTokenSource } from './service-token.ts'
import { attributesOf, RESERVATION } from './span-attributes.ts'
import { openItemSubmitter } from './submit-items.ts'

// The ledger, to its callers: a method for each row of the tables of items and of operations.
//   C1  Whatever fails in transport is sent again while the caller's budget lasts. A connection that falls silent fails as
//       well: each try has a limit of its own, at which its connection is closed and never used again.
//   C2  An opening item (admit, admitNode, claim) has a budget, and LedgerUnavailable means that it was not decided: of `admit`
//       nothing stays reserved; of the others what they hold ends with the lease.
//   C3  A closing item (settle, release, complete) is sent again until its budget ends; without one, until the client closes.
//       LedgerUnavailable then means that it is not known whether it was done.

export interface LedgerClientOptions {
  /** The ledger's base address. */
  url: string
  service: ServiceName
  /** What this service signs its tokens with; at least 32 characters. */
  secret: string
  /** Unix milliseconds. */
  now?: () => number
  /** Requests of items that may be open at once, those included that have begun to answer. */
  connections?: number
  /** Requests of items that may wait for their first outcome: one, and others where it is silent or they are full. */
  maxInFlight?: number
  /** For how long a request may stay without an outcome before the next one goes beside it. Many times what a batch takes. */
  patienceMs?: number
  /** Admissions that may wait to be sent; the next one is refused as overloaded. */
  maxWaiting?: number
  /** How long `close` waits for what is not decided yet. */
  closeGraceMs?: number
}

export interface Budget {
  /** How long the caller waits. Milliseconds. */
  budgetMs: number
  /** false: the item only looks, again and again, and has no span. */
  traced?: boolean
}

type Operations = {
  [Name in OperationName]: (request: RequestOf<Name>, budget?: Budget) => Promise<ResponseOf<Name>>
}
/** C2 */
type Openings = {
  [Name in ItemsOfKind<'opening'>]: (item: ItemOf<Name>, budget: Budget) => Promise<OutcomeOf<Name>>
}
/** C3 */
type Closings = {
  [Name in ItemsOfKind<'closing'>]: (item: ItemOf<Name>, budget?: Budget) => Promise<OutcomeOf<Name>>
}

/** Every call may throw LedgerUnavailable, and LedgerRejected where caller and ledger disagree on the wire. */
export interface LedgerClient extends Operations, Openings, Closings {
  /** Waits for what is not decided yet, then closes the connections. */
  close(): Promise<void>
}

/** How long an operation may take if its caller does not say so: at least two tries. */
const OPERATION_MS = 5_000
/** How long one try of it may take; then it goes again on another connection. */
const TRY_MS = 2_000
/** As long as the client is open. */
const NO_END: Budget = { budgetMs: Infinity }
const CONNECT_MS = 2_000
/** A connection on which nothing comes is probed after this, each second, and is lost after ten probes without an answer. */
const PROBE_AFTER_MS = 5_000
/** Of `requests` few, apart from the others, so that a heartbeat waits behind no crowd. */
const CONNECTIONS = { requests: 4, executions: 16 }

/** Opens the way to the ledger. Connections are made when they are needed. */
export function openLedgerClient({
  url,
  service,
  secret,
  now = Date.now,
  connections: itemConnections = 16,
  maxInFlight = 3,
  patienceMs = 100,
  maxWaiting = 10_000,
  closeGraceMs = 5_000,
}: LedgerClientOptions): LedgerClient {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/+$/, '')
  const token = openTokenSource({ service, secret, now })
  // Time limits are each item's own; undici's would end a request under items that may still wait.
  const socket = { timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS }
  const pool = (size: number) =>
    new Pool(origin, { connections: size, connect: socket, headersTimeout: 0, bodyTimeout: 0 })
  const closing = new AbortController()
  const connect = (size: number): Connection => ({ pool: pool(size), base, token, closed: closing.signal })
  const connections = { requests: connect(CONNECTIONS.requests), executions: connect(CONNECTIONS.executions) }
  const itemsPool = pool(itemConnections)
  const batcher = openRequestBatcher({
    pool: itemsPool,
    path: base + itemsEndpoint.path,
    token,
    maxInFlight,
    maxRequests: itemConnections,
    patienceMs,
  })
  const items = openItemSubmitter({ batcher, maxWaiting, now })

  function operation(name: OperationName) {
    const { path, pool, span, tryMs = TRY_MS }: OperationRow = ledgerOperations[name]
    const usual: Budget = { budgetMs: Math.max(OPERATION_MS, 2 * tryMs) }
    return (request: object, { budgetMs }: Budget = usual) => {
      const limits = { budgetMs, tryMs: Math.min(tryMs, budgetMs / 2) }
      const call = (traceparent?: string) => callOperation(connections[pool], path, request, limits, traceparent)
      return span ? withClientSpan(span, request, call) : call()
    }
  }

  function item(name: ItemName) {
    const { op } = ledgerItems[name]
    return (item: object, { budgetMs, traced = true }: Budget = NO_END) => {
      const call = (traceparent?: string) => items.submit(name, item, budgetMs, traceparent)
      return traced ? withClientSpan({ name: op, id: RESERVATION }, item, call) : call()
    }
  }

  return {
    ...(byName(operationNames, operation) as Operations),
    ...(byName(itemNames, item) as Openings & Closings),
    async close() {
      await settlesWithin(closeGraceMs, items.idle())
      items.stop()
      batcher.stop()
      closing.abort()
      await Promise.all([itemsPool, connections.requests.pool, connections.executions.pool].map((one) => one.destroy()))
    },
  }
}

function byName<Name extends string>(names: readonly Name[], make: (name: Name) => object): object {
  return Object.fromEntries(names.map((name) => [name, make(name)]))
}

/**
 * Calls the ledger inside a span, of which the ledger's own becomes a part by its `traceparent`; without a collector there is none.
 * @param id the attribute that the `id` of the request is
 */
function withClientSpan<Response extends object>(
  { name, id }: { name: string; id: string },
  request: object,
  call: (traceparent?: string) => Promise<Response>,
): Promise<Response> {
  return withSpan(`ledger ${name}`, { kind: SpanKind.CLIENT }, async (span) => {
    if (!isSpanContextValid(span.spanContext())) return call()
    span.setAttributes(attributesOf(request, { id }))
    const response = await call(traceparentOf(span))
    span.setAttributes(attributesOf(response))
    return response
  })
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
