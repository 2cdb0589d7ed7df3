import { type ConsoleOperation, consoleRoutes } from './console-routes.ts'
import type { ApiRoute } from './api-route.ts'

// Operations that take access away from someone who has it. They have separate permits and database connections, so
// that no crowd of other requests delays them.

export const revocations: ReadonlySet<ConsoleOperation> = new Set([
  'signOut',
  'setPassword', // ends all sessions
  'deleteToken',
  'deleteTenantToken',
  'deleteProjectToken',
  'removeMember',
  'removeTeamMember',
  'removeGrant',
  'unassignProduct',
  'revokeKey',
  'rotateKey',
])

const patterns = [...revocations].map((operation) => {
  const { method, path }: ApiRoute = consoleRoutes[operation]
  return { method, path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i') }
})

/** Whether a request takes access away, by its method and path without query. */
export function isRevocation(method: string, path: string): boolean {
  return patterns.some((pattern) => pattern.method === method && pattern.path.test(path))
}
