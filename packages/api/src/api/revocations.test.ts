import { expect, test } from 'vitest'
import type { ApiRoute } from './api-route.ts'
import { consoleRoutes } from './console-routes.ts'
import { isRevocation, revocations } from './revocations.ts'

test('recognizes the requests of exactly these operations, by method and path', () => {
  const recognized = Object.entries<ApiRoute>(consoleRoutes)
    .filter(([, { method, path }]) => isRevocation(method, path.replaceAll(/\{\w+\}/g, 'x%2Fy-1')))
    .map(([operation]) => operation)
  expect(recognized.toSorted()).toEqual([...revocations].toSorted())
})

test.for([
  ['POST', '/api/v2/tenants/ten_1/keys/key_1/revoke', true],
  ['POST', '/API/v2/tenants/ten_1/keys/key_1/revoke/', true],
  ['GET', '/api/v2/tenants/ten_1/keys/key_1/revoke', false],
  ['DELETE', '/api/v2/session', true],
  ['POST', '/api/v2/session', false],
  ['DELETE', '/x/api/v2/session', false],
  ['DELETE', '/api/v2/tenants/ten_1', false],
] as const)('%s %s: %s', ([method, path, revokes]) => {
  expect(isRevocation(method, path)).toBe(revokes)
})
