import { textOf } from './answers.ts'
import { ApiRefusal, failure, failureOf, Unreachable } from './failures.ts'
import type { BodyBytes, RequestOptions } from './rows.ts'

export interface ClientOptions {
  /** Address of the service, such as `https://gateway.example`. Empty in a browser for the origin of the page. */
  baseUrl: string
  /** Defaults to the global one. */
  fetch?: typeof globalThis.fetch
  /** Sent with every request, such as `{ authorization: 'Bearer svc_…' }`; a function is called for each attempt. */
  headers?: Fields | (() => Fields | Promise<Fields>)
  /** Longest wait for the headers of a read or of lines, in milliseconds; a minute by default. */
  headersMs?: number
}
type Fields = Readonly<Record<string, string>>

/** The options of a request after type checking against its route. */
export interface Given extends RequestOptions {
  params?: Readonly<Record<string, string>> | undefined
  query?: Query | undefined
  body?: unknown
  contentType?: string | undefined
  idempotencyKey?: string | undefined
}

/** The service takes at most half a minute for the headers of a read or of lines. */
const HEADERS_MS = 60_000

/**
 * Sends a request, with retries where safe: reads, requests with an idempotency key, and those marked repeatable.
 * @param take reads the response; one that breaks off is retried like one that never arrived
 */
export async function request<T>(
  { baseUrl, fetch, headers = {}, headersMs = HEADERS_MS }: ClientOptions,
  method: string,
  path: string,
  given: Given,
  accept: string,
  take: (answer: Response) => T | Promise<T>,
): Promise<T> {
  const { idempotencyKey, isRepeatable = method === 'GET' || idempotencyKey !== undefined, signal } = given
  const url = baseUrl.replace(/\/+$/, '') + requestPath(path, given.params, given.query)
  // Serialized once: a repeat under the same key must be identical.
  const content = contentOf(given)
  // Called as a plain function: a browser's fetch throws if it is called as a method.
  const send = fetch ?? globalThis.fetch

  async function attempt(): Promise<T> {
    const common = typeof headers === 'function' ? await headers() : headers
    const fields = new Headers({ accept })
    const own = { ...content?.headers, ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) }
    for (const some of [common, given.headers ?? {}, own])
      for (const [name, value] of Object.entries(some)) setHeader(fields, name, value)
    // Following a redirect would send the body to another host.
    const init = {
      method,
      headers: fields,
      redirect: 'manual' as const,
      ...(content && { body: content.body }),
      ...(signal && { signal }),
    }
    // Other requests may get no headers before the whole response, such as the record of an execution.
    const isSoon = method === 'GET' || fields.get('accept') === 'application/x-ndjson'
    try {
      const answer = await (isSoon
        ? sendInTime(headersMs, signal, (either) => send(url, { ...init, signal: either }))
        : send(url, init))
      if (!answer.ok) throw failureOf(answer, await textOf(answer))
      return await take(answer)
    } catch (cause) {
      throw failure(cause, signal)
    }
  }
  return isRepeatable ? repeat(attempt, signal) : attempt()
}

/** @throws Unreachable if the headers do not arrive in time */
async function sendInTime(
  headersMs: number,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Unreachable('The service did not respond in time.')), headersMs)
  try {
    return await send(signal ? AbortSignal.any([signal, late.signal]) : late.signal)
  } finally {
    clearTimeout(timer)
  }
}

function contentOf({ body, contentType }: Given): { body: string | BodyBytes; headers: Fields } | null {
  if (body === undefined) return null
  if (contentType !== undefined) return { body: body as BodyBytes, headers: { 'content-type': contentType } }
  return { body: JSON.stringify(body, finite), headers: { 'content-type': 'application/json' } }
}

/** JSON would write it as null. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}: JSON has none.`)
  return value
}

/** @throws TypeError without the value, which may be a secret */
function setHeader(fields: Headers, name: string, value: string): void {
  try {
    fields.set(name, value)
  } catch {
    throw new TypeError(`The header ${name} has characters that no header has.`)
  }
}

/**
 * Builds the path and query of a request: each `{name}` of the path filled in, percent-encoded.
 * @throws TypeError for a parameter that is missing or would change the path
 */
function requestPath(path: string, params: Params = {}, query: Query = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(path, name, params[name]))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const asked = search.toString()
  return asked === '' ? filled : `${filled}?${asked}`
}

type Params = Readonly<Record<string, string>>
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** URL resolution drops `.`, and `..` with the segment before it, however they are encoded. */
function segment(path: string, name: string, value: unknown): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
    throw new TypeError(`The parameter ${name} of ${path} cannot be ${JSON.stringify(value)}.`)
  return encodeURIComponent(value)
}

const REPEATS = 2
const FIRST_WAIT_MS = 500
/** A longer requested wait is not waited for: the refusal goes to the caller. */
const LONGEST_WAIT_MS = 60_000

/**
 * Tries something up to three times if worthwhile: after the time that the service asks for, else after half a second
 * and then a second, with jitter so that concurrent failures don't retry together.
 * @param signal ends it with its reason, also during a wait
 */
async function repeat<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await attempt()
    } catch (error) {
      const waitMs = repeats < REPEATS ? waitBefore(repeats, error) : null
      if (waitMs === null) throw error
      await wait(waitMs, signal)
    }
  }
}

/** Null if a retry is not worthwhile. */
function waitBefore(repeats: number, error: unknown): number | null {
  const isKnown = error instanceof ApiRefusal || error instanceof Unreachable
  if (!isKnown || !error.again.worth) return null
  const { afterMs } = error.again
  const jitter = Math.random() / 4
  if (afterMs === null) return FIRST_WAIT_MS * 2 ** repeats * (1 - jitter)
  return afterMs > LONGEST_WAIT_MS ? null : afterMs + FIRST_WAIT_MS * jitter
}

/** Resolves after this many milliseconds. @param signal ends it with its reason */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    function stop(): void {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
