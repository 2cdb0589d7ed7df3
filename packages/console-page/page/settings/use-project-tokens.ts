import { useQuery } from '@tanstack/react-query'
import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import type { TokenScope } from './token-scope.ts'

type Permission = BodyOf<ConsoleRoutes['createProjectToken']>['permissions'][number]

const permissions: Record<Permission, string> = {
  'projects.read': 'View the project',
  'projects.change': 'Change asset retention',
  'assignments.read': 'View product assignments',
  'grants.read': 'View roles',
  'keys.manage': 'View and revoke keys',
  'usage.read': 'Read usage and calls',
  'wallet.read': 'Read the wallet',
  'sandboxes.use': 'Read, edit and run flows (spends from the wallet)',
}

/** Service tokens of the project in the URL. */
export function useProjectTokens(): TokenScope {
  const params = useScope()
  const path = '/api/v2/tenants/{tenant}/projects/{project}/tokens'
  const { data, error } = useQuery(readingAll(path, { params }))
  return {
    tokens: data,
    error,
    label: 'Permissions',
    permissions,
    create: (token, idempotencyKey) =>
      ask('POST', path, { params, body: { ...token, permissions: token.permissions as Permission[] }, idempotencyKey }),
    remove: (token) => ask('DELETE', `${path}/{token}`, { params: { ...params, token } }),
  }
}
