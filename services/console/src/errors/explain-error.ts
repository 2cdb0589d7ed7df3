import { AssetStoreUnavailable } from '@gateway/assets/blob-backend'
import { Prisma } from '@gateway/database/client'
import { Refusal, refuse } from '@gateway/api/refusal'
import { answerOfRefusal, type ExplainError } from '@gateway/service-kit/http/answers'
import { requestIdOf } from '@gateway/service-kit/http/preamble'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { ConsoleDeps } from '../deps.ts'
import { refusalPage, returnOfBrowser } from '../page/console-page.ts'

/**
 * Turns an error into a response (rules §2.1). Errors that are not refusals are logged and never shown.
 * @param stylesheet address, for the page that browsers get
 */
export function explainError({ log, metrics }: Pick<ConsoleDeps, 'log' | 'metrics'>, stylesheet: string): ExplainError {
  return (error, _req, res) => {
    const refusal = refusalFor(error)
    metrics.refused(refusal.code)
    // One caller can have any number of `overloaded`, which a metric counts.
    if (refusal.status >= 500 && refusal.code !== 'overloaded')
      log.error({ err: error, requestId: requestIdOf(res) }, 'request failed: unexpected error')
    const returnTo = returnOfBrowser(res)
    return returnTo === null ? answerOfRefusal(refusal) : refusalPage(refusal, stylesheet, returnTo)
  }
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof LedgerUnavailable) return refuse(error.why, {})
  if (error instanceof AssetStoreUnavailable) return refuse('unavailable', {})
  if (ranOutOfTime(error)) return tookTooLong()
  if (isDatabaseUnavailable(error)) return refuse('unavailable', {})
  if (error instanceof URIError || wasDeleted(error)) return refuse('not_found', {})
  return refuse('internal_error', {})
}

/** Whether the row to change, or a row that a new row refers to, was deleted between authorization and the write. */
function wasDeleted(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && (error.code === 'P2003' || error.code === 'P2025')
}

function tookTooLong(): Refusal {
  return new Refusal(
    'unavailable',
    'The question took longer than a question may take, and was ended.',
    'Ask for less, such as a shorter time or a smaller limit; or ask again later, if the service is busy.',
    { retryAfterMs: null },
  )
}

// Errors of Prisma, its driver adapter, pg and sockets. The engine wraps errors of single queries and adds a Prisma
// code; errors of BEGIN come from the adapter unwrapped, with a kind; errors raised by pg itself have only a message.

/**
 * Prisma: can't reach, timed out, closed, pool exhausted, transaction lost or in conflict with another, too many
 * connections. Postgres: session ended by a time limit, too many connections, lock not available, deadlock, shutting
 * down.
 */
const UNAVAILABLE_CODE =
  /^(P1001|P1002|P1008|P1017|P2024|P2028|P2034|P2037|08\d{3}|25P0[34]|40P01|53300|55P03|57P0\d|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/

/** The same conditions as kinds of the adapter. */
const UNAVAILABLE_KINDS: unknown[] = ['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TooManyConnections']

/** Messages of pg and its pool for errors without a code. */
const UNAVAILABLE_TEXTS = [
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]

/** A statement exceeded the time limit of the console's login (packages/database/src/roles.ts). */
const QUERY_CANCELED = '57014'

const DEEPEST = 5

/** Whether the database connection was lost or could not be opened. A retry may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return layersOf(error).some(
    (layer) =>
      layer instanceof Prisma.PrismaClientInitializationError ||
      (layer instanceof Error && UNAVAILABLE_TEXTS.includes(layer.message)) ||
      UNAVAILABLE_KINDS.includes(layer.kind) ||
      codesOf(layer).some((code) => UNAVAILABLE_CODE.test(code)),
  )
}

export function ranOutOfTime(error: unknown): boolean {
  return layersOf(error).some((layer) => codesOf(layer).includes(QUERY_CANCELED))
}

interface Layer {
  code?: unknown
  originalCode?: unknown
  kind?: unknown
  cause?: unknown
  meta?: { driverAdapterError?: unknown }
}

/** Returns the error and the errors it wraps, from the outside in. */
function layersOf(error: unknown): Layer[] {
  const layers: Layer[] = []
  for (let at = error; typeof at === 'object' && at !== null && layers.length < DEEPEST;) {
    const layer: Layer = at
    layers.push(layer)
    at = layer.cause ?? layer.meta?.driverAdapterError
  }
  return layers
}

function codesOf({ code, originalCode }: Layer): string[] {
  return [code, originalCode].filter((each) => typeof each === 'string')
}
