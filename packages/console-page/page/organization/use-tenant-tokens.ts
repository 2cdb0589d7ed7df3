import { useQuery } from '@tanstack/react-query'
import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import type { TokenPlace } from '../settings/token-place.ts'

type Permission = BodyOf<ConsoleRoutes['createTenantToken']>['permissions'][number]

const permissions: Record<Permission, string> = {
  'people.read': 'See who is a member',
  'teams.read': 'See the teams',
  'audit.read': 'Read the audit',
  'projects.read': 'See the projects',
  'projects.manage': 'Create and delete projects',
  'assignments.read': 'See which products projects may use',
  'assignments.manage': 'Assign and withdraw products',
  'grants.read': 'See who has which role on projects',
  'keys.manage': 'See and revoke keys',
}

/** The tokens of the organization that the address names. */
export function useTenantTokens(): TokenPlace {
  const { tenant } = usePlace()
  const { data, error } = useQuery(readingAll('/api/v2/tenants/{tenant}/tokens', { params: { tenant } }))
  return {
    tokens: data,
    error,
    permissions,
    create: (token, idempotencyKey) =>
      ask('POST', '/api/v2/tenants/{tenant}/tokens', {
        params: { tenant },
        body: { ...token, permissions: token.permissions as Permission[] },
        idempotencyKey,
      }),
    remove: (token) => ask('DELETE', '/api/v2/tenants/{tenant}/tokens/{token}', { params: { tenant, token } }),
  }
}
