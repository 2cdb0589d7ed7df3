import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'

/** The service said no, and what clears it. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number
  readonly code: RefusalCode
  /** What clears it, for a user. */
  readonly resolution: string
  readonly type: RefusalBody['type']
  /** Machine-readable facts; empty where none are reported. */
  readonly details: Readonly<Record<string, unknown>>
  /** The field of the request that is at fault, as a path. */
  readonly param: string | null
  /** Names this answer, for support. */
  readonly requestId: string | null
  /** Whether the same request may be answered otherwise later, and when it is worth asking. */
  readonly again: Again

  constructor(
    answer: Pick<Response, 'status' | 'headers'>,
    { message, code, resolution, type, details = {}, param }: RefusalBody,
  ) {
    super(message)
    this.status = answer.status
    this.code = code
    this.resolution = resolution
    this.type = type
    this.details = details
    this.param = param
    this.requestId = answer.headers.get('x-request-id')
    this.again = againOf(answer)
  }
}

/** No answer of the service: it was not reached, it broke off, or something before it answered. `cause` is what learned of it. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  /** null: there was no answer at all, or only a part of one. */
  readonly status: number | null
  readonly again: Again

  constructor(message: string, { answer = null, cause }: { answer?: Response | null; cause?: unknown } = {}) {
    super(message, { cause })
    this.status = answer?.status ?? null
    this.again = answer ? againOf(answer) : { worth: true, afterMs: null }
  }
}

export interface Again {
  worth: boolean
  /** null: the service does not say. */
  afterMs: number | null
}

/** What is thrown for what a request failed with. */
export function failure(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (cause instanceof ApiRefusal || cause instanceof Unreachable) return cause
  return new Unreachable('The service was not reached, or its answer broke off.', { cause })
}

/** The error of an answer with this text that is not 2xx. */
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

/** The refusal, complete even if a response leaves fields out. null: it is not a refusal. */
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
