import { type ConsoleOperation, consoleRoutes } from './console-routes.ts'
import type { ApiRoute } from './api-route.ts'

// Operations of the console with separate limits, recognized by method and path before a request is routed.

/**
 * Operations that take access away from someone who has it. They have separate permits and database connections, so
 * that no crowd of other requests delays them.
 */
export const revocations: ReadonlySet<ConsoleOperation> = new Set([
  'signOut',
  'setPassword', // ends all sessions
  'deleteToken',
  'endSession',
  'signOutEverywhere',
  'disableUser',
  'removeOperator',
  'deleteTenantToken',
  'deleteProjectToken',
  'removeMember',
  'suspendMember',
  'revokeInvitation',
  'removeTeamMember',
  'removeGrant',
  'objectToAppointment',
  'deleteTenantWebhook',
  'unassignProduct',
  'pauseKey',
  'revokeKey',
  'rotateKey',
])

/** Operations that follow an execution or wait for its end, and take as long as it does. */
export const followers: ReadonlySet<ConsoleOperation> = new Set(['followExecution', 'executeSandbox', 'rerunExecution'])

/** Whether a request takes access away, by its method and path without query. */
export const isRevocation = matcherOf(revocations)

/** Whether a request follows an execution. */
export const isFollower = matcherOf(followers)

function matcherOf(operations: ReadonlySet<ConsoleOperation>): (method: string, path: string) => boolean {
  const patterns = [...operations].map((operation) => {
    const { method, path }: ApiRoute = consoleRoutes[operation]
    return { method, path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i') }
  })
  return (method, path) => patterns.some((pattern) => pattern.method === method && pattern.path.test(path))
}
