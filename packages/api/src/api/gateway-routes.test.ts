import { expect, test } from 'vitest'
import { gatewayRoutes } from './gateway-routes.ts'

test('reading a model refuses only with model_not_found, as for a model that the key does not list', () => {
  expect(gatewayRoutes.readModel.refusals).toEqual(['model_not_found'])
})
