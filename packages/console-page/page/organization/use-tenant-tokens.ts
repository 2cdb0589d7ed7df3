import { useQuery } from '@tanstack/react-query'
import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { useProjects } from './use-organization.ts'
import type { TokenScope } from '../settings/token-scope.ts'

type Permission = BodyOf<ConsoleRoutes['createTenantToken']>['permissions'][number]

const permissions: Record<Permission, string> = {
  'users.read': 'View members',
  'teams.read': 'View teams',
  'audit.read': 'Read the audit log',
  'projects.read': 'View projects',
  'projects.manage': 'Create and delete projects',
  'assignments.read': 'View product assignments',
  'assignments.manage': 'Assign and unassign products',
  'grants.read': 'View project roles',
  'keys.manage': 'View and revoke keys',
}

/** Service tokens of the organization in the URL. */
export function useTenantTokens(): TokenScope {
  const { tenant } = useScope()
  const { data, error } = useQuery(readingAll('/api/v2/tenants/{tenant}/tokens', { params: { tenant } }))
  const projects = useProjects().data ?? []
  return {
    tokens: data,
    placeOf: ({ project }) => (project ? (projects.find(({ id }) => id === project)?.name ?? project) : 'Organization'),
    error,
    label: 'Permissions',
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
