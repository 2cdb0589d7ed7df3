import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import type { TokenScope } from '../settings/token-scope.ts'

/** The user's personal tokens, which have all permissions of the user. */
export function usePersonalTokens(): TokenScope {
  const { data, error } = useQuery(readingAll('/api/v2/me/tokens', { params: {} }))
  return {
    tokens: data,
    error,
    permissions: null,
    create: ({ name, expiresInDays }, idempotencyKey) =>
      ask('POST', '/api/v2/me/tokens', { params: {}, body: { name, expiresInDays }, idempotencyKey }),
    remove: (token) => ask('DELETE', '/api/v2/me/tokens/{token}', { params: { token } }),
  }
}
