import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'

/** Gateway client that authenticates with a key, never with the session. */
export function askingWith(secret: string): ApiClient {
  return openApiClient({
    baseUrl: '',
    headers: { authorization: `Bearer ${secret}` },
    fetch: (url, init) => fetch(url, { ...init, credentials: 'omit' }),
  })
}
