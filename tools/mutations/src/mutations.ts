import type { Mutation } from './mutation.ts'
import { consoleRules } from './rules/console.ts'
import { gatewayRules } from './rules/gateway.ts'
import { ledgerRules } from './rules/ledger.ts'
import { moneyFunctionRules } from './rules/money-functions.ts'
import { packageRules } from './rules/packages.ts'
import { workerRules } from './rules/worker.ts'

/** Rules whose violation the tests must detect: sixty, spread over all services. */
export const mutations: readonly Mutation[] = [
  ...ledgerRules,
  ...moneyFunctionRules,
  ...gatewayRules,
  ...workerRules,
  ...consoleRules,
  ...packageRules,
]
