import { Screen } from '../frame/screen.tsx'
import { TokensSection, type TokenScope } from '../settings/tokens-section.tsx'
import { useOrganization, useProjects } from './list-screen.tsx'
import { useQuery } from '@tanstack/react-query'
import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/queries.ts'
import { useScope } from '../api/session.ts'

/** Service tokens of the organization. */
export function OrganizationTokensScreen() {
  return (
    <Screen title="Service tokens" of={useOrganization().name}>
      <TokensSection
        title="Service tokens"
        isAlone
        of={useTenantTokens()}
        text="Tokens let scripts act in this organization with the permissions you pick. They can't grant access to others, and they keep working when their creator leaves. Tokens of projects are listed too; Project Owners create them."
      />
    </Screen>
  )
}

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
function useTenantTokens(): TokenScope {
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
