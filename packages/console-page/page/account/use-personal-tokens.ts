import { useQuery } from '@tanstack/react-query'
import type { Scope } from '@gateway/api/console/scopes'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import type { TokenScope } from '../settings/token-scope.ts'
import { scopeLabels } from './scope-labels.ts'

/** The user's personal tokens, which have the user's permissions in their scopes. */
export function usePersonalTokens(): TokenScope {
  const { platformOperator } = useMe()
  const { data, error } = useQuery(readingAll('/api/v2/me/tokens', { params: {} }))
  const { operator, ...others } = scopeLabels
  return {
    tokens: data?.map((token) => ({ ...token, permissions: token.scopes })),
    error,
    label: 'Scopes',
    permissions: { ...others, ...(platformOperator && { operator }) },
    create: ({ name, expiresInDays, permissions }, idempotencyKey) => {
      const body = { name, expiresInDays, scopes: permissions as Scope[] }
      return ask('POST', '/api/v2/me/tokens', { params: {}, body, idempotencyKey })
    },
    remove: (token) => ask('DELETE', '/api/v2/me/tokens/{token}', { params: { token } }),
  }
}
