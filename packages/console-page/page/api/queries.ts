import {
  queryOptions,
  useMutation,
  useQueryClient,
  type QueryClient,
  type QueryFilters,
  type QueryKey,
} from '@tanstack/react-query'
import { ask, type Input, type PathOf, askAll } from './ask.ts'
import { announce } from '../frame/announcer.ts'
import { useRef } from 'react'

type Asked<P extends PathOf<'GET'>> = Pick<Input<'GET', P>, 'params' | 'query'>

/** `useQuery` options that read an API path. */
export function reading<const P extends PathOf<'GET'>>(path: P, input: Asked<P>) {
  return queryOptions({
    queryKey: [path, input.params, input.query ?? null],
    queryFn: ({ signal }) => ask('GET', path, { ...input, signal }),
  })
}

/** `useQuery` options that read all pages of a list. */
export function readingAll<const P extends PathOf<'GET'>>(path: P, input: Asked<P>) {
  return queryOptions({
    queryKey: [path, input.params, input.query ?? null, 'all'],
    queryFn: ({ signal }) => askAll(path, { ...input, signal }),
  })
}

/**
 * Mutation that announces its success and reloads the affected queries.
 * @param paths affected API paths; all active queries if omitted, for example after permission changes, which affect
 * most data
 */
export function useChange<Made, Asked = void>(
  change: (asked: Asked) => Promise<Made>,
  said: string,
  paths?: readonly string[],
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      announce(said)
      if (!paths) return readAgain(client)
      return Promise.all(paths.map((path) => readAgain(client, { queryKey: [path] })))
    },
  })
}

/** Returns the idempotency key of a body. The key changes only with the body, so resubmitting creates one record. */
export function useOnce(): (body: object) => string {
  const last = useRef({ text: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (last.current.text !== text) last.current = { text, key: newIdempotencyKey() }
    return last.current.key
  }
}

// Cache updates after a change. A read in flight started before the change and may return stale data.

/**
 * Refetches active queries and invalidates the rest. `invalidateQueries` would join a first read in flight, so cancel
 * it.
 */
export async function readAgain(client: QueryClient, { queryKey }: Pick<QueryFilters, 'queryKey'> = {}): Promise<void> {
  const filters = queryKey ? { queryKey } : {}
  // Cancel active queries only: `fetchQuery` callers would get an error.
  const isFirst = ({ state }: { state: { data: unknown } }) => state.data === undefined
  await client.cancelQueries({ ...filters, type: 'active', fetchStatus: 'fetching', predicate: isFirst })
  await client.invalidateQueries(filters)
}

/** Caches the response to a change as the current data of a query. */
export async function keepAnswer(
  client: QueryClient,
  { queryKey }: { queryKey: QueryKey },
  answer: unknown,
): Promise<void> {
  await client.cancelQueries({ queryKey, exact: true })
  client.setQueryData(queryKey, answer)
}

/** A random `Idempotency-Key`. Works over plain HTTP, where browsers have no `randomUUID`. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
