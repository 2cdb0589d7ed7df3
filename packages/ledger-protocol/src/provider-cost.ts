import { costOfUsage, type Usage } from '@gateway/pricing/usage'
import type { SettleItem } from './ledger-items.ts'
import type { Admitted, Route } from './ledger-outcomes.ts'

/**
 * What the provider that answered a call charges for it, as the settlement reports it: at the rates of its admission, for
 * the recorded usage. Tries at other providers are not part of it.
 */
export function providerCost(
  { routes }: Pick<Admitted, 'routes'>,
  answered: Pick<Route, 'provider' | 'model'>,
  usage: Usage,
): Pick<SettleItem, 'costPico'> {
  const route = routes.find(({ provider, model }) => provider === answered.provider && model === answered.model)
  return route?.cost ? { costPico: costOfUsage(route.cost, usage).toString() } : {}
}
