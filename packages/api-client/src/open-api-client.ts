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
 * The API, typed by the rows of its contract: parameters, query, body and answer of each route. What reads, and what has an
 * idempotency key, is tried up to three times, under the same key; `signal` bounds the time.
 * All throw ApiRefusal where the service refuses, Unreachable where it does not answer, and the reason of the signal.
 */
export interface ApiClient {
  /** What the route answers as JSON; `undefined` where that is nothing. */
  ask<M extends Method, P extends JsonPath<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<Options<RowAt<M, P>>>
  ): Promise<Answer<RowAt<M, P>>>
  /**
   * Its lines, as they come. Once they come nothing is repeated: anyone who loses the connection asks for what is behind their last line.
   */
  stream<M extends Method, P extends StreamPath<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<Options<RowAt<M, P>>>
  ): AsyncGenerator<Line<RowAt<M, P>>, void, undefined>
  /** The pages of a list, from `query.cursor` or the first one on. A page may be empty without being the last. */
  pages<P extends ListPath>(
    path: P,
    ...options: OptionsArgument<Options<RowAt<'GET', P>>>
  ): AsyncGenerator<Answer<RowAt<'GET', P>>, void, undefined>
  /** The answer unchanged, such as bytes or comma-separated values. */
  raw<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<Options<RowAt<M, P>>>
  ): Promise<Response>
}

/** Opens no connection: each request finds its own. */
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
