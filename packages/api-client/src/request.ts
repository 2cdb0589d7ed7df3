import { textOf } from './answers.ts'
import { failure, failureOf } from './failures.ts'
import { repeat } from './repeat.ts'
import { requestPath, type Query } from './request-path.ts'
import type { BodyBytes, RequestOptions } from './rows.ts'

export interface ClientOptions {
  /** Where the service answers, such as `https://gateway.example`. Empty, in a page: where that is from. */
  baseUrl: string
  /** By default the global one. */
  fetch?: typeof globalThis.fetch
  /** Go with every request, such as `{ authorization: 'Bearer svc_…' }`; a function is asked for each try. */
  headers?: Fields | (() => Fields | Promise<Fields>)
}
type Fields = Readonly<Record<string, string>>

/** The options of a request once the types of its route have checked them. */
export interface Given extends RequestOptions {
  params?: Readonly<Record<string, string>> | undefined
  query?: Query | undefined
  body?: unknown
  contentType?: string | undefined
  idempotencyKey?: string | undefined
}

/**
 * One request, tried again where it may be: what reads, what has an idempotency key, and what is said to be repeatable.
 * @param take reads the answer; an answer that breaks off is tried again like one that did not come
 */
export async function request<T>(
  { baseUrl, fetch, headers = {} }: ClientOptions,
  method: string,
  path: string,
  given: Given,
  accept: string,
  take: (answer: Response) => T | Promise<T>,
): Promise<T> {
  const { idempotencyKey, isRepeatable = method === 'GET' || idempotencyKey !== undefined, signal } = given
  const url = baseUrl.replace(/\/+$/, '') + requestPath(path, given.params, given.query)
  // Written once: a repeat under the same key has to be the same.
  const content = contentOf(given)
  // Not called as a method: a browser's fetch refuses to be one.
  const send = fetch ?? globalThis.fetch

  async function attempt(): Promise<T> {
    const common = typeof headers === 'function' ? await headers() : headers
    const fields = new Headers({ accept })
    const own = { ...content?.headers, ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) }
    for (const some of [common, given.headers ?? {}, own])
      for (const [name, value] of Object.entries(some)) setHeader(fields, name, value)
    // A redirection would take along what is sent, also to another host.
    const init = {
      method,
      headers: fields,
      redirect: 'manual' as const,
      ...(content && { body: content.body }),
      ...(signal && { signal }),
    }
    try {
      const answer = await send(url, init)
      if (!answer.ok) throw failureOf(answer, await textOf(answer))
      return await take(answer)
    } catch (cause) {
      throw failure(cause, signal)
    }
  }
  return isRepeatable ? repeat(attempt, signal) : attempt()
}

function contentOf({ body, contentType }: Given): { body: string | BodyBytes; headers: Fields } | null {
  if (body === undefined) return null
  if (contentType !== undefined) return { body: body as BodyBytes, headers: { 'content-type': contentType } }
  return { body: JSON.stringify(body, finite), headers: { 'content-type': 'application/json' } }
}

/** Written as JSON it would be null. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}: JSON has none.`)
  return value
}

/** @throws TypeError that does not tell the value, which may be a secret */
function setHeader(fields: Headers, name: string, value: string): void {
  try {
    fields.set(name, value)
  } catch {
    throw new TypeError(`The header ${name} has characters that no header has.`)
  }
}
