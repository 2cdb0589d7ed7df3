import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut } from './failed.ts'
import { readingMe } from './session.ts'

/**
 * Keeps what was read, and reads it again for anyone who comes to it: a screen is as it is now. What may pass by
 * itself the client has tried again already.
 */
export function openQueryClient(): QueryClient {
  const onError = (error: unknown, key?: unknown) => {
    // Asking who is signed in again lets the frame see that no one is.
    if (isSignedOut(error) && key !== readingMe.queryKey[0]) void client.invalidateQueries(readingMe)
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => onError(error, query.queryKey[0]) }),
    mutationCache: new MutationCache({ onError: (error) => onError(error) }),
    defaultOptions: {
      // A browser that says it is offline may still reach a service on its own machine. Nothing waits to be sent later.
      queries: { retry: false, networkMode: 'always', refetchOnReconnect: true },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}
