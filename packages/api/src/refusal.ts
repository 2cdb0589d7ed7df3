import { refusals, typeOf, type RefusalRow, type RefusalType } from './refusals.ts'

export type RefusalCode = keyof typeof refusals

/** The facts that a row's message and resolution read. */
export type FactsOf<C extends RefusalCode> = Parameters<(typeof refusals)[C]['message']>[0] &
  Parameters<(typeof refusals)[C]['resolution']>[0]

/** The inner object of every non-2xx response (rules §2.1); also `execution.error` and `node.error`. */
export interface RefusalBody {
  code: RefusalCode
  type: RefusalType
  param: string | null
  message: string
  resolution: string
  details?: Record<string, unknown>
}

export interface RefusalExtras {
  /** The request field at fault, as a path such as `messages.0.role`. */
  param?: string
  /** Machine-readable facts, shown unchanged. */
  details?: Record<string, unknown>
  /** When to retry, if known better than the row's default; at most 30 s. Null if no time is reported. */
  retryAfterMs?: number | null
  headers?: Record<string, string>
}

/** A failure that the caller can clear. Anything else that is thrown is a provider failure or a bug. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly status: number
  readonly body: RefusalBody
  readonly headers: Record<string, string>

  constructor(code: RefusalCode, message: string, resolution: string, extras: RefusalExtras = {}) {
    super(`${code}: ${message}`)
    const row: RefusalRow = refusals[code]
    this.code = code
    this.status = row.status
    this.body = {
      code,
      type: typeOf(row),
      param: extras.param ?? null,
      message,
      resolution,
      ...(extras.details && { details: extras.details }),
    }
    const { retryAfterMs = row.retryAfterMs ?? null } = extras
    this.headers = { ...headersOf(row.status, retryAfterMs), ...extras.headers }
  }
}

/** Creates the refusal of a row from its facts. */
export function refuse<C extends RefusalCode>(code: C, facts: FactsOf<C>, extras: RefusalExtras = {}): Refusal {
  const row: RefusalRow = refusals[code]
  return new Refusal(code, row.message(facts), row.resolution(facts), extras)
}

const MAX_RETRY_AFTER_MS = 30_000

function headersOf(status: number, retryAfterMs: number | null): Record<string, string> {
  if (retryAfterMs !== null && (status === 409 || status === 429 || status === 503))
    return { 'Retry-After': String(Math.max(1, Math.ceil(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) / 1000))) }
  if (status === 401) return { 'WWW-Authenticate': 'Bearer', 'x-should-retry': 'false' }
  // Stock clients retry 409, 429 and 5xx by themselves; here a retry can't change the response.
  if (status < 500) return { 'x-should-retry': 'false' }
  return {}
}
