import { type Mutation, mutate, unfitMessage } from './mutation.ts'
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

export interface Looked {
  mutation: Mutation
  /**
   * Why the mutation does not fit, and whether its rule is missing rather than present several times; null if it fits.
   */
  unfit: { message: string; missing: boolean } | null
}

/** Checks which mutations fit a tree, and why the others don't. */
export async function fitting(
  read: (file: string) => Promise<string | null>,
  mutations: readonly Mutation[],
): Promise<Looked[]> {
  return Promise.all(
    mutations.map(async (mutation): Promise<Looked> => {
      const text = await read(mutation.file)
      if (text === null) return { mutation, unfit: { message: unfitMessage(mutation, null), missing: true } }
      const applied = mutate(text, mutation)
      if (applied.kind === 'mutated') return { mutation, unfit: null }
      const { count } = applied
      return { mutation, unfit: { message: unfitMessage(mutation, count), missing: count === 0 } }
    }),
  )
}
