import type { EstimateFacts, SandboxEstimate } from '@gateway/contracts/estimate'
import { planOf } from '../plan.ts'
import { openCalls } from './calls.ts'
import { boundOfAllPaths } from './all-paths.ts'
import { boundOfDearestPath } from './dearest-path.ts'

/**
 * What an execution is charged at most (money §7.6), from what the ledger knows at one moment. Each step is short; whoever
 * serves others besides lets them go first between two of them.
 */
export function* estimate(facts: EstimateFacts): Generator<void, SandboxEstimate> {
  const plan = planOf(facts.package)
  const calls = openCalls(facts.products)
  const dearest = yield* boundOfDearestPath(plan, facts.values, calls)
  const atMost = dearest ?? (yield* boundOfAllPaths(plan, facts.values, calls))
  return {
    object: 'sandbox.estimate',
    sandbox: facts.sandbox,
    revision: facts.revision,
    atMostMicro: Number(atMost),
    nodes: plan.nodes
      .filter(({ paid }) => paid)
      .map(({ id, ordinal }) => ({ id, atMostMicro: Number(calls.atMost(ordinal)) })),
    last: facts.last,
  }
}
