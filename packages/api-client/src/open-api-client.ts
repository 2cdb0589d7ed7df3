import { jsonOf, linesOf } from './answers.ts'
import { Unreachable } from './failures.ts'
import { request, type ClientOptions, type Given } from './request.ts'
import type {
  Answer,
  JsonPath,
  Line,
  ListPath,
  Method,
  Options,
  OptionsArgument,
  Path,
  RowAt,
  StreamPath,
} from './rows.ts'

export type { ClientOptions } from './request.ts'

/**
 * The API, typed by the rows of its contract: parameters, query, body and response of each route. Reads, and requests
 * with an idempotency key, are tried up to three times under the same key; `signal` bounds the time. Every method
 * throws ApiRefusal if the service refuses, Unreachable if it does not respond, and the reason of the signal.
 */
export interface ApiClient {
  /** Returns the JSON of the response; `undefined` if it has no body. */
  ask<M extends Method, P extends JsonPath<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<Options<RowAt<M, P>>>
  ): Promise<Answer<RowAt<M, P>>>
  /**
   * Yields the lines as they arrive. After the first line there are no retries: if the connection is lost, request the
   * lines after the last one received.
   */
  stream<M extends Method, P extends StreamPath<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<Options<RowAt<M, P>>>
  ): AsyncGenerator<Line<RowAt<M, P>>, void, undefined>
  /** Yields the pages of a list, from `query.cursor` or the first. A page may be empty without being the last. */
  pages<P extends ListPath>(
    path: P,
    ...options: OptionsArgument<Options<RowAt<'GET', P>>>
  ): AsyncGenerator<Answer<RowAt<'GET', P>>, void, undefined>
  /** Returns the response unchanged, such as bytes or comma-separated values. */
  raw<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<Options<RowAt<M, P>>>
  ): Promise<Response>
}

/** Opens no connection; each request opens its own. */
export function openApiClient(client: ClientOptions): ApiClient {
  const ask = (method: string, path: string, given: Given = {}) =>
    request(client, method, path, given, 'application/json', jsonOf)

  async function* stream(method: string, path: string, given: Given = {}) {
    yield* linesOf(await raw(method, path, given, 'application/x-ndjson'), given.signal)
  }
  async function* pages(path: string, given: Given = {}) {
    const asked = new Set<unknown>()
    for (let cursor = given.query?.['cursor']; cursor !== null;) {
      asked.add(cursor)
      const page = (await ask('GET', path, { ...given, query: { ...given.query, cursor } })) as {
        nextCursor: string | null
      }
      yield page
      cursor = page.nextCursor
      if (asked.has(cursor)) throw new Unreachable('The pages of the answer have no end.')
    }
  }
  const raw = (method: string, path: string, given: Given = {}, accept = '*/*') =>
    request(client, method, path, given, accept, (answer) => answer)

  return { ask, stream, pages, raw } as unknown as ApiClient
}
