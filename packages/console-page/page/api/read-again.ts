import type { QueryClient, QueryFilters, QueryKey } from '@tanstack/react-query'

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
