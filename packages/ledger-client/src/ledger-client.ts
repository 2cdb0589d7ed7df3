import { isSpanContextValid, type Span, SpanKind } from '@opentelemetry/api'
import { Pool } from 'undici'
import { backOffMs, settlesWithin } from '@gateway/service-kit/async/waiting'
import {
  type ItemName,
  itemNames,
  type ItemOf,
  type ItemRow,
  type ItemsOfKind,
  ledgerItems,
  type OutcomeLine,
  type OutcomeOf,
} from '@gateway/ledger-protocol/ledger-items'
import {
  ledgerOperations,
  type OperationName,
  operationNames,
  type OperationRow,
  type RequestOf,
  type ResponseOf,
} from '@gateway/ledger-protocol/ledger-operations'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { withSpan } from '@gateway/service-kit/process/spans'
import { callOperation, LedgerUnavailable, openRequestSender } from './call-operation.ts'
import { openItemsChannels } from './items-channels.ts'
import { openOperationChannels } from './operation-channels.ts'
import { openRequestBatcher, type PendingItem, type RequestBatcher } from './request-batcher.ts'
import { openRequestSigner } from './service-token.ts'
import { attributesOf, RESERVATION } from './span-attributes.ts'
import type { Undecided } from '@gateway/ledger-protocol/ledger-outcomes'

// The ledger, to its callers: a method for each row of the tables of items and of operations.
//   C1  What fails in transport is sent again while the caller's budget lasts. A connection that goes silent fails as
//       well: each try has a separate limit, at which its connection is closed and never used again.
//   C2  An opening item (admit, admitNode, claim) has a budget, and LedgerUnavailable means that it was not decided: of
//       `admit` nothing stays reserved; for the others, what they hold ends with the lease.
//   C3  A closing item (settle, release, complete) is resent until its budget ends, or without one until the client
//       closes. LedgerUnavailable then means that it is not known whether it was done.

export interface LedgerClientOptions {
  /** The ledger's base address. */
  url: string
  service: ServiceName
  /** Signs this service's requests; PEM. */
  privateKey: string
  /** Unix milliseconds. */
  now?: () => number
  /** Maximum number of open requests of items, including those that have started to answer. */
  connections?: number
  /** Maximum number of such requests without an outcome: one, and more if it is silent or full. */
  maxInFlight?: number
  /** How long a request may stay without an outcome before the next one is sent. Many times the duration of a batch. */
  patienceMs?: number
  /** Admissions that may wait to be sent; one more is refused as overloaded. */
  maxWaiting?: number
  /** How long `close` waits for undecided items. */
  closeGraceMs?: number
}

export interface Budget {
  /** How long the caller waits. Milliseconds. */
  budgetMs: number
  /** false: a repeated poll, which has no span. */
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

/** Every call may throw LedgerUnavailable, and LedgerRejected if caller and ledger disagree on the wire. */
export interface LedgerClient extends Operations, Openings, Closings {
  /** Waits for undecided items, then closes the connections. */
  close(): Promise<void>
}

/** How long an operation may take unless its caller says otherwise: at least two tries. */
const OPERATION_MS = 5_000
/** How long one try of an operation may take; then it is repeated on another connection. */
const TRY_MS = 2_000
/** As long as the client is open. */
const NO_END: Budget = { budgetMs: Infinity }
const CONNECT_MS = 2_000
/** A connection without traffic is probed after this, each second, and is lost after ten probes without an answer. */
const PROBE_AFTER_MS = 5_000
/** Of HTTP requests, which are few and separate from the channels, so that a heartbeat never waits behind a crowd. */
const REQUEST_CONNECTIONS = 4

/** Opens a client of the ledger. Connections are opened when they are needed. */
export function openLedgerClient({
  url,
  service,
  privateKey,
  now = Date.now,
  connections: itemConnections = 16,
  maxInFlight = 3,
  patienceMs = 100,
  maxWaiting = 10_000,
  closeGraceMs = 5_000,
}: LedgerClientOptions): LedgerClient {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/+$/, '')
  const signer = openRequestSigner({ service, privateKey, now })
  // Each operation has its own time limit.
  const socket = { timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS }
  const pool = new Pool(origin, {
    connections: REQUEST_CONNECTIONS,
    connect: socket,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const closing = new AbortController()
  const channelOptions = { url, signer, connectMs: CONNECT_MS, probeAfterMs: PROBE_AFTER_MS }
  const operationChannels = openOperationChannels(channelOptions)
  const senders = { request: openRequestSender(pool, base, signer), channel: operationChannels.send }
  const channels = openItemsChannels(channelOptions)
  const batcher = openRequestBatcher({
    channels,
    maxInFlight,
    maxRequests: itemConnections,
    patienceMs,
  })
  const items = openItemSubmitter({ batcher, maxWaiting, now })

  function operation(name: OperationName) {
    const { path, wire, span, tryMs = TRY_MS }: OperationRow = ledgerOperations[name]
    const connection = { send: senders[wire], closed: closing.signal }
    const usual: Budget = { budgetMs: Math.max(OPERATION_MS, 2 * tryMs) }
    return (request: { id?: string }, { budgetMs }: Budget = usual) => {
      const limits = { budgetMs, tryMs: Math.min(tryMs, budgetMs / 2) }
      const call = (traceparent?: string) => callOperation(connection, path, request, limits, traceparent)
      // Other fields of the request may name what a caller wrote: the response names what the ledger found.
      return span ? withClientSpan(span, { id: request.id }, call) : call()
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
      channels.close()
      operationChannels.close()
      await pool.destroy()
    },
  }
}

function byName<Name extends string>(names: readonly Name[], make: (name: Name) => object): object {
  return Object.fromEntries(names.map((name) => [name, make(name)]))
}

/**
 * Calls the ledger in a span, which becomes the parent of the ledger's by its `traceparent`; without a collector, in
 * none.
 * @param id the attribute that holds the `id` of the request
 * @param known the fields of the request that may become attributes
 */
function withClientSpan<Response extends object>(
  { name, id }: { name: string; id: string },
  known: object,
  call: (traceparent?: string) => Promise<Response>,
): Promise<Response> {
  return withSpan(`ledger ${name}`, { kind: SpanKind.CLIENT }, async (span) => {
    if (!isSpanContextValid(span.spanContext())) return call()
    span.setAttributes(attributesOf(known, { id }))
    const response = await call(traceparentOf(span))
    span.setAttributes(attributesOf(response))
    return response
  })
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

// What an item means to its caller (architecture §M4, §M6).
//   S1  An admission that ends without a certain decision is released under its id: nothing stays reserved. Until that is
//       done the id is not admitted again, because its call would run while it is released.
//   S2  A settlement, a release or a completion is never refused for lack of room: it is resent until its budget ends
//       or the client closes.
//   S3  Beyond `maxWaiting` waiting admissions and claims, one more is refused at once.
//   S4  A node's admission and claim are never released: what they hold ends with the lease, by `complete` or by the
//       ledger.

type Outcome = OutcomeLine['outcome']
type Decided = Exclude<Outcome, Undecided>

export interface ItemSubmitter {
  /**
   * Sends an item and returns its outcome.
   * @throws LedgerUnavailable when it was not decided before its budget ended or the client closed
   */
  submit(name: ItemName, item: object, budgetMs: number, traceparent?: string): Promise<Decided>
  /** Resolves when no item is undecided. */
  idle(): Promise<void>
  /** Fails all waiting and later items. */
  stop(): void
}

/** How an item handles its outcomes. */
interface Receiver {
  /** Returns the caller's result; null: another outcome will follow. Throws the caller's error. */
  onOutcome(outcome: Outcome, pendingItem: PendingItem): Decided | null
  /** The budget ended first. */
  onLate(pendingItem: PendingItem): void
}

/** Duration of one try of a closing: the ledger then drops it undecided, and it is resent. */
const CLOSING_TRY_MS = 5_000
const CLOSING_BACK_OFF = { firstMs: 25, maxMs: 2_000 }
/** Reserved for the way back, so that the ledger's "undecided" arrives before the budget ends. */
const WAY_BACK = { share: 0.1, longestMs: 250 }

export function openItemSubmitter({
  batcher,
  maxWaiting,
  now,
}: {
  batcher: RequestBatcher
  maxWaiting: number
  now: () => number
}): ItemSubmitter {
  const pending = new Set<(error: Error) => void>()
  const waitForIdle: (() => void)[] = []
  const releasing = new Set<string>()
  let stopped = false

  function submit(name: ItemName, item: object, budgetMs: number, traceparent?: string): Promise<Decided> {
    const { kind, undecided }: ItemRow = ledgerItems[name]
    if (kind === 'closing') return send(name, item, budgetMs, traceparent, closingReceiver())
    if (batcher.waitingOpenings() >= maxWaiting) return Promise.reject(new LedgerUnavailable({ why: 'overloaded' })) // S3
    const id = undecided === 'released' ? (item as { id: string }).id : null // S4
    if (id !== null && releasing.has(id)) return Promise.reject(new LedgerUnavailable({ why: 'unavailable' })) // S1
    return send(name, item, budgetMs, traceparent, openingReceiver(id))
  }

  function openingReceiver(id: string | null): Receiver {
    return {
      onOutcome(outcome, { doubtful }) {
        // A copy of it may still wait at the ledger, and be admitted after this answer.
        if (doubtful && (outcome.kind === 'undecided' || outcome.kind === 'refused' || outcome.kind === 'running'))
          releaseLater(id) // S1
        if (outcome.kind === 'undecided' && outcome.why === 'unknown' && !doubtful) releaseLater(id) // S1
        if (outcome.kind === 'undecided') throw failureOf(outcome)
        return outcome
      },
      onLate(pendingItem) {
        if (pendingItem.sent) releaseLater(id) // S1
      },
    }
  }

  function releaseLater(id: string | null): void {
    if (id === null || stopped) return
    const item = { id, reason: 'its admission was not answered in time' }
    releasing.add(id)
    void submit('release', item, Infinity)
      .catch(() => {})
      .finally(() => releasing.delete(id))
  }

  function closingReceiver(): Receiver {
    let tries = 0
    return {
      onOutcome(outcome, pendingItem) {
        if (outcome.kind !== 'undecided') return outcome
        setTimeout(() => pendingItem.ended || batcher.submit(pendingItem), backOffMs(++tries, CLOSING_BACK_OFF)) // S2
        return null
      },
      onLate() {},
    }
  }

  function send(
    name: ItemName,
    item: object,
    budgetMs: number,
    traceparent: string | undefined,
    { onOutcome, onLate }: Receiver,
  ): Promise<Decided> {
    const { op, kind } = ledgerItems[name]
    if (stopped) return Promise.reject(new LedgerUnavailable({ why: 'unavailable' }))
    return new Promise((resolve, reject) => {
      const json = `{"op":"${op}",${JSON.stringify(item).slice(1)}`
      const endsAtMs = now() + budgetMs
      const pendingItem: PendingItem = {
        kind,
        json,
        bytes: Buffer.byteLength(json),
        trace: traceparent === undefined ? '' : `,"trace":"${traceparent}"`,
        budgetMs: () => tryMs(kind, Math.min(endsAtMs - now(), budgetMs)),
        onOutcome(outcome) {
          try {
            const decided = onOutcome(outcome, pendingItem)
            if (decided === null) return
            end()
            resolve(decided)
          } catch (error) {
            end()
            reject(error)
          }
        },
        onRejected: fail,
        ended: false,
        sent: false,
        doubtful: false,
        alone: false,
        request: null,
      }
      const timer = budgetMs < FOR_EVER_MS ? setTimeout(expire, budgetMs) : null
      pending.add(fail)
      batcher.submit(pendingItem)

      function expire(): void {
        onLate(pendingItem)
        fail(new LedgerUnavailable({ why: 'unavailable' }))
      }

      function fail(error: Error): void {
        batcher.abandon(pendingItem)
        end()
        reject(error)
      }

      function end(): void {
        pendingItem.ended = true
        if (timer) clearTimeout(timer)
        pending.delete(fail)
        if (pending.size === 0) for (const resolveIdle of waitForIdle.splice(0)) resolveIdle()
      }
    })
  }

  return {
    submit,
    idle: () => (pending.size === 0 ? Promise.resolve() : new Promise((resolve) => waitForIdle.push(resolve))),
    stop() {
      stopped = true
      for (const fail of pending) fail(new LedgerUnavailable({ why: 'unavailable' }))
    },
  }
}

function failureOf({ why }: Undecided): LedgerUnavailable {
  return new LedgerUnavailable({ why: why === 'overloaded' ? 'overloaded' : 'unavailable' })
}

/** How long the ledger may take for an item with `leftMs` of its budget left. Whole milliseconds, at least 1. */
function tryMs(kind: ItemRow['kind'], leftMs: number): number {
  const answeredMs = leftMs - Math.min(leftMs * WAY_BACK.share, WAY_BACK.longestMs)
  return Math.max(1, Math.floor(Math.min(answeredMs, kind === 'opening' ? LONGEST_TRY_MS : CLOSING_TRY_MS)))
}

/** The longest time a timer can run. */
const FOR_EVER_MS = 2 ** 31 - 1
/** The ledger accepts no longer time for an item. */
const LONGEST_TRY_MS = 300_000
