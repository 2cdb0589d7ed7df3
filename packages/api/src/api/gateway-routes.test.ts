import { expect, test } from 'vitest'
import { gatewayRoutes } from './gateway-routes.ts'

test('a model that the key does not list is not there: one entry is asked for as all are', () => {
  expect(gatewayRoutes.readModel.refusals).toEqual(['model_not_found'])
})
