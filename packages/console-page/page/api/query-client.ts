import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiRefusal, isSignedOut } from './api-refusal.ts'
import { readingMe } from './session.ts'

const TRIES = 2

/**
 * Keeps what was read, and reads it again for whoever comes to it: a screen is as it is now. A refusal is told at once; what
 * may pass by itself is tried again.
 */
export function openQueryClient(): QueryClient {
  const onError = (error: unknown, key?: unknown) => {
    // Asking who is signed in again lets the frame see that nobody is.
    if (isSignedOut(error) && key !== readingMe.queryKey[0]) void client.invalidateQueries(readingMe)
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => onError(error, query.queryKey[0]) }),
    mutationCache: new MutationCache({ onError: (error) => onError(error) }),
    defaultOptions: {
      queries: { retry: (failed, error) => mayPass(error) && failed < TRIES },
    },
  })
  return client
}

function mayPass(error: unknown): boolean {
  return error instanceof ApiRefusal && (error.status === 0 || error.status >= 500)
}
