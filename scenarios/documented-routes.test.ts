import { expect, test } from 'vitest'
import type { ApiRoute } from '@gateway/api/api-route'
import { flowRoutes } from '@gateway/api/flow-routes'
import { gatewayRoutes } from '@gateway/api/gateway-routes'
import { gatewayApp } from '@gateway/gateway/app'
import { openGatewayRoutes } from './src/isolation/gateway-matrix.ts'
import { neverAsked, surfaceOf } from './src/routes-of.ts'

// The gateway serves exactly the routes that docs/openapi.json describes. A route without a row next to its contract
// (packages/api/src/api) fails here, and so does a row that isn't served. The console mounts the rows themselves.

/** Express writes `:id` and `*id`, OpenAPI `{id}`. */
const asDescribed = (route: string) => route.replaceAll(/[:*](\w+)/g, '{$1}')

// spec: 9/s1
test('the gateway serves exactly the routes described in docs/openapi.json', () => {
  const served = surfaceOf(gatewayApp(neverAsked())).routes
  const described = Object.values<ApiRoute>({ ...gatewayRoutes, ...flowRoutes })
  expect(described.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    served
      .filter((route) => !(route in openGatewayRoutes)) // for browsers and probes
      .map(asDescribed)
      .toSorted(),
  )
})
