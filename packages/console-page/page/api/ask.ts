import type { AnswerOf, BodyOf, ParameterOf, QueryOf } from '@gateway/contracts/api-route'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { ApiRefusal } from './api-refusal.ts'

// The console's API, typed by the rows of its contract.

type Row = ConsoleRoutes[keyof ConsoleRoutes]
export type Method = Row['method']
export type PathOf<M extends Method> = Extract<Row, { method: M }>['path']
type RowOf<M extends Method, P extends string> = Extract<Row, { method: M; path: P }>

export type Params<P extends string> = Record<ParameterOf<{ path: P }>, string>
/** What a route takes besides its path. */
export interface Input<M extends Method, P extends string> {
  params: Params<P>
  query?: Partial<NonNullable<QueryOf<RowOf<M, P>>>>
  body?: BodyOf<RowOf<M, P>>
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}
export type Answer<M extends Method, P extends string> = AnswerOf<RowOf<M, P>>

/** Asks, and answers what was answered; `undefined` for nothing. @throws ApiRefusal */
export async function ask<const M extends Method, const P extends PathOf<M>>(
  method: M,
  path: P,
  input: Input<M, P>,
): Promise<Answer<M, P>> {
  const answer = await send(method, addressOf(path, input), input)
  if (answer.status === 204) return undefined as Answer<M, P>
  const json: unknown = await answer.json().catch(() => null)
  if (answer.ok && json !== null) return json as Answer<M, P>
  const body = (json as { error?: ConstructorParameters<typeof ApiRefusal>[1] } | null)?.error ?? unclear
  throw new ApiRefusal(answer.status, body, answer.headers.get('X-Request-Id'))
}

function addressOf(path: string, { params, query }: { params: Readonly<Record<string, string>>; query?: object }) {
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null) search.set(name, String(value))
  return search.size === 0 ? named : `${named}?${search}`
}

async function send(
  method: string,
  address: string,
  { body, headers, signal }: { body?: unknown; headers?: Readonly<Record<string, string>>; signal?: AbortSignal },
): Promise<Response> {
  const init: RequestInit = {
    method,
    credentials: 'same-origin',
    headers: {
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
  }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal) init.signal = signal
  try {
    return await fetch(address, init)
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiRefusal(0, notReached)
  }
}

const unclear = { code: 'unclear', message: 'The answer could not be read.', resolution: 'Try again in a moment.' }
const notReached = {
  code: 'not_reached',
  message: 'The console could not be reached.',
  resolution: 'Check the connection and try again.',
}
