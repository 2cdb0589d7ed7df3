import { expect, test } from 'vitest'
import { consoleApp } from '@gateway/console/app'
import { apiRoutes } from '@gateway/contracts/openapi-document'
import { gatewayApp } from '@gateway/gateway/app'
import { openRoutes } from './src/isolation/console-matrix.ts'
import { openGatewayRoutes } from './src/isolation/gateway-matrix.ts'
import { neverAsked, surfaceOf } from './src/routes-of.ts'

// What the services serve and what docs/openapi.json describes is the same. A route without a row next to its contract
// (packages/contracts/src/api) fails here, and so does a row that nobody serves.

const never = neverAsked()

/** Express writes `:id` and `*id`, OpenAPI `{id}`. */
const asDescribed = (route: string) => route.replaceAll(/[:*](\w+)/g, '{$1}')

/** For browsers and probes. */
const undescribed = new Set(
  [...Object.keys(openRoutes), ...Object.keys(openGatewayRoutes)].filter((route) => !route.includes('/api/v2/')),
)

test('every route is described, and every described one is served', () => {
  const gateway = surfaceOf(gatewayApp(never)).routes
  const served = [...gateway, ...surfaceOf(consoleApp(never)).routes]
  const described = apiRoutes.map(({ method, path }) => `${method} ${path}`)
  expect(described.toSorted()).toEqual(
    served
      .filter((route) => !undescribed.has(route))
      .map(asDescribed)
      .toSorted(),
  )
})
