import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'

/** A refusal by the service, with its resolution. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number
  readonly code: RefusalCode
  /** How to clear it, for a user. */
  readonly resolution: string
  readonly type: RefusalBody['type']
  /** Machine-readable facts; empty if there are none. */
  readonly details: Readonly<Record<string, unknown>>
  /** Path of the request field at fault. */
  readonly param: string | null
  /** Identifies this response, for support. */
  readonly requestId: string | null
  /** Whether a later repeat of the request may succeed, and when to try. */
  readonly again: Again
  /** Key of the run that ended with this error: a run under it continues the same execution. Null for other requests. */
  idempotencyKey: string | null = null
  /** Id of the execution of that run, if it is known to have started. */
  execution: string | null = null

  constructor(
    answer: Pick<Response, 'status' | 'headers'>,
    { message, code, resolution, type, details = {}, param }: RefusalBody,
    again: Again = againOf(answer),
  ) {
    super(message)
    this.status = answer.status
    this.code = code
    this.resolution = resolution
    this.type = type
    this.details = details
    this.param = param
    this.requestId = answer.headers.get('x-request-id')
    this.again = again
  }
}

/**
 * The service did not respond: it was unreachable, the response broke off, or a proxy responded. `cause` is the error.
 */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  /** Null if there was no response, or only part of one. */
  readonly status: number | null
  readonly again: Again
  /** Key of the run that ended with this error: a run under it continues the same execution. Null for other requests. */
  idempotencyKey: string | null = null
  /** Id of the execution of that run, if it is known to have started. */
  execution: string | null = null

  constructor(message: string, { answer = null, cause }: { answer?: Response | null; cause?: unknown } = {}) {
    super(message, { cause })
    this.status = answer?.status ?? null
    this.again = answer ? againOf(answer) : { worth: true, afterMs: null }
  }
}

export interface Again {
  worth: boolean
  /** Null if the service does not say. */
  afterMs: number | null
}

/** Returns what to throw for the cause of a failed request. */
export function failure(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (cause instanceof ApiRefusal || cause instanceof Unreachable) return cause
  return new Unreachable('The service is unreachable, or its response was truncated.', { cause })
}

/** Returns the error of a non-2xx response with this text. */
export function failureOf(answer: Response, text: string): ApiRefusal | Unreachable {
  const body = refusalIn(text)
  if (body) return new ApiRefusal(answer, body)
  const address = answer.headers.get('location')
  const what = address === null ? 'is none of the API' : `leads to ${address}, where nothing is sent`
  return new Unreachable(`The answer ${answer.status} ${what}.`, { answer })
}

function refusalIn(text: string): RefusalBody | null {
  try {
    return readRefusal((JSON.parse(text) as { error?: unknown }).error)
  } catch {
    return null
  }
}

/** Completes a refusal that leaves fields out; null if it is not a refusal. */
export function readRefusal(error: unknown): RefusalBody | null {
  const { code, message, resolution, param, details, ...rest } = Object(error) as Record<keyof RefusalBody, unknown>
  if (typeof code !== 'string') return null
  const said = (text: unknown, or: string) => (typeof text === 'string' ? text : or)
  return {
    ...rest,
    code,
    message: said(message, 'The service refuses.'),
    resolution: said(resolution, 'The service does not say what clears it.'),
    param: typeof param === 'string' ? param : null,
    details: Object(details) as object,
  } as RefusalBody
}

function againOf({ status, headers }: Pick<Response, 'status' | 'headers'>): Again {
  const said = headers.get('x-should-retry')
  const worth = said === null ? status >= 500 || [408, 409, 429].includes(status) : said === 'true'
  const after = headers.get('retry-after') ?? ''
  const afterMs = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return { worth, afterMs: afterMs >= 0 ? afterMs : null }
}
