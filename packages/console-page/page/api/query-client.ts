import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut } from './failed.ts'
import { readingMe } from './session.ts'

/**
 * Opens the query cache. Cached data is refetched when a screen opens, so screens are up to date. Queries are not
 * retried here, because the API client already retries transient errors.
 */
export function openQueryClient(): QueryClient {
  const onError = (error: unknown, key?: unknown) => {
    // Refetching the current user lets the frame detect the expired session.
    if (isSignedOut(error) && key !== readingMe.queryKey[0]) void client.invalidateQueries(readingMe)
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => onError(error, query.queryKey[0]) }),
    mutationCache: new MutationCache({ onError: (error) => onError(error) }),
    defaultOptions: {
      // A browser that reports offline may still reach a service on its own machine, so nothing is queued.
      queries: { retry: false, networkMode: 'always', refetchOnReconnect: true },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}
