import { expect, test } from 'vitest'
import type { ApiRoute } from './api-route.ts'
import { consoleRoutes } from './console-routes.ts'
import { followers, isFollower, isRevocation, revocations } from './request-kinds.ts'

test.for([
  ['revocations', revocations, isRevocation],
  ['followers', followers, isFollower],
] as const)('recognizes the requests of exactly these operations: %s', ([, operations, isOne]) => {
  const recognized = Object.entries<ApiRoute>(consoleRoutes)
    .filter(([, { method, path }]) => isOne(method, path.replaceAll(/\{\w+\}/g, 'x%2Fy-1')))
    .map(([operation]) => operation)
  expect(recognized.toSorted()).toEqual([...operations].toSorted())
})

test.for([
  ['POST', '/api/v2/tenants/ten_1/keys/key_1/revoke', true],
  ['POST', '/API/v2/tenants/ten_1/keys/key_1/revoke/', true],
  ['GET', '/api/v2/tenants/ten_1/keys/key_1/revoke', false],
  ['DELETE', '/api/v2/session', true],
  ['POST', '/api/v2/session', false],
  ['DELETE', '/x/api/v2/session', false],
  ['DELETE', '/api/v2/tenants/ten_1', false],
] as const)('%s %s is a revocation: %s', ([method, path, revokes]) => {
  expect(isRevocation(method, path)).toBe(revokes)
})
