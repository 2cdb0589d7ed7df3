import { openApiClient } from '@gateway/api-client/open-api-client'
import type { AnswerOf, BodyOf, ParameterOf, QueryOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'

// Console API client, typed by the API contract. A cookie identifies the signed-in user.

type Row = ConsoleRoutes[keyof ConsoleRoutes]
export type Method = Row['method']
export type PathOf<M extends Method> = Extract<Row, { method: M }>['path']
type RowOf<M extends Method, P extends string> = Extract<Row, { method: M; path: P }>

export type Params<P extends string> = Record<ParameterOf<{ path: P }>, string>
/** Input of a route. With an idempotency key, a request whose response was lost is retried. */
export interface Input<M extends Method, P extends string> {
  params: Params<P>
  query?: Partial<NonNullable<QueryOf<RowOf<M, P>>>>
  body?: RowOf<M, P> extends { bytes: object } ? Blob : BodyOf<RowOf<M, P>>
  /** Media type, if the body is a file. */
  contentType?: string
  idempotencyKey?: string
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}
type Answer<M extends Method, P extends string> = AnswerOf<RowOf<M, P>>

/** API client. The cast is needed because its types require one specific route, while a path here can be a union. */
const client = openApiClient({ baseUrl: '' }) as unknown as {
  ask(method: string, path: string, input: object): Promise<never>
  raw(method: string, path: string, input: object): Promise<Response>
}

/** Sends a request and returns the response body, or `undefined` if it is empty. @throws ApiRefusal, Unreachable */
export function ask<const M extends Method, const P extends PathOf<M>>(
  method: M,
  path: P,
  input: Input<M, P>,
): Promise<Answer<M, P>> {
  return client.ask(method, path, input)
}

/** Sends a request and returns the raw response. @throws ApiRefusal, Unreachable */
export function raw<const M extends Method, const P extends PathOf<M>>(
  method: M,
  path: P,
  input: Input<M, P>,
): Promise<Response> {
  return client.raw(method, path, input)
}

const LONGEST_PAGE = 500

type Listed<P extends PathOf<'GET'>> =
  Answer<'GET', P> extends { data: (infer Item)[]; nextCursor: string | null } ? Item : never

/** Reads all pages of a list. @throws ApiRefusal */
export async function askAll<const P extends PathOf<'GET'>>(path: P, input: Input<'GET', P>): Promise<Listed<P>[]> {
  const rows: Listed<P>[] = []
  let cursor: string | null = null
  do {
    const query: object = { ...input.query, limit: LONGEST_PAGE, ...(cursor !== null && { cursor }) }
    const page = (await ask('GET', path, { ...input, query })) as {
      data: Listed<P>[]
      nextCursor: string | null
    }
    rows.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}
