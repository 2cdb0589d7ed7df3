import type { QueryClient, QueryFilters, QueryKey } from '@tanstack/react-query'

// After a change. A read that is under way began before it, and may answer what was before.

/** Reads again what is shown, and marks the rest as old. The client itself joins a first read that is under way. */
export async function readAgain(client: QueryClient, { queryKey }: Pick<QueryFilters, 'queryKey'> = {}): Promise<void> {
  const filters = queryKey ? { queryKey } : {}
  // Only of what is shown: code that fetches by itself would see its read end in an error.
  const isFirst = ({ state }: { state: { data: unknown } }) => state.data === undefined
  await client.cancelQueries({ ...filters, type: 'active', fetchStatus: 'fetching', predicate: isFirst })
  await client.invalidateQueries(filters)
}

/** Keeps the answer to a change as what a read would answer now. */
export async function keepAnswer(
  client: QueryClient,
  { queryKey }: { queryKey: QueryKey },
  answer: unknown,
): Promise<void> {
  await client.cancelQueries({ queryKey, exact: true })
  client.setQueryData(queryKey, answer)
}
