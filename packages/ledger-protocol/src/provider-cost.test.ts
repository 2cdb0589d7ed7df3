import { expect, test } from 'vitest'
import { noTokens } from '@gateway/pricing/usage'
import type { Route } from './ledger-outcomes.ts'
import { providerCost } from './provider-report.ts'

const USAGE = { promptTokens: 30, completionTokens: 10, estimated: false }

test('a call costs what the provider that answered charges, without rounding', () => {
  const routes: Route[] = [
    { provider: 'one', model: 'm', cost: ['3', '5', '0', null, null, null] },
    { provider: 'two', model: 'm', cost: ['7', '11', '1', '1', null, null] },
    { provider: 'two', model: 'image', cost: ['0', '0', '1300000001', null, null, null] },
  ]
  expect(providerCost({ routes }, { provider: 'one', model: 'm' }, USAGE)).toEqual({ costPico: '140' })
  expect(providerCost({ routes }, { provider: 'two', model: 'm' }, { ...USAGE, cachedTokens: 20 })).toEqual({
    costPico: `${20 + 70 + 110 + 1}`,
  })
  expect(providerCost({ routes }, { provider: 'two', model: 'image' }, noTokens)).toEqual({ costPico: '1300000001' })
})

test('the cost of a call is left out if its provider has no known one', () => {
  const routes = [{ provider: 'one', model: 'm' }]
  expect(providerCost({ routes }, { provider: 'one', model: 'm' }, USAGE)).toEqual({})
  expect(providerCost({ routes: [] }, { provider: 'one', model: 'm' }, USAGE)).toEqual({})
})
