import type { EstimateFacts, SandboxEstimate } from '@gateway/api/estimate'
import { type Plan, type PlanNode, planOf } from '../plan.ts'
import { type Calls, openCalls } from './calls.ts'
import { boundOfMaxCostPath, inputOutcome, valueAt } from './max-cost-path.ts'
import type { Values } from '@gateway/api/execution'
import { anyOf, type BoundedValue } from './bounded-value.ts'
import type { BoundedInputs } from './call-bound.ts'
import type { Outcome } from './node-outcomes.ts'

/**
 * Computes the max cost of an execution (money §7.6) from the ledger's facts at one moment. Each step of the generator
 * is short, so the caller can serve other requests between steps.
 */
export function* estimate(facts: EstimateFacts): Generator<void, SandboxEstimate> {
  const plan = planOf(facts.package)
  const calls = openCalls(facts.products)
  const maxMicro = yield* boundOfMaxCostPath(plan, facts.values, calls)
  const atMost = maxMicro ?? (yield* boundOfAllPaths(plan, facts.values, calls))
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

/**
 * Returns the max micro-USD of all nodes that any path of an execution can reach: both sides of a branch on an unknown
 * value count. Never less than the max-cost path alone, on which nodes can have other values.
 */
export function* boundOfAllPaths(plan: Plan, input: Values, calls: Calls): Generator<void, bigint> {
  const ended: (Outcome | null)[] = plan.nodes.map(() => null)
  ended[plan.input] = inputOutcome(input)
  let total = 0n
  for (let waiting = plan.nodes.filter(({ ordinal }) => ordinal !== plan.input); waiting.length > 0;) {
    const ready = waiting.filter(({ inputs }) =>
      inputs.every(({ sources }) => sources.every(({ ordinal }) => ended[ordinal] !== null)),
    )
    if (ready.length === 0) throw new Error('the nodes of a plan wait for each other')
    for (const node of ready) {
      const inputs = inputsOf(node, ended)
      if (inputs === null) ended[node.ordinal] = new Map() // the node never runs
      else {
        const { outcomes, micro } = calls.perform(node, inputs)
        total += micro
        ended[node.ordinal] = together(outcomes)
      }
      yield
    }
    waiting = waiting.filter((node) => !ready.includes(node))
  }
  return total
}

/** Returns the inputs of a node, or null if a required one will never have a value. */
function inputsOf(node: PlanNode, ended: readonly (Outcome | null)[]): BoundedInputs | null {
  const inputs = new Map<string, BoundedValue[]>()
  for (const { port, required, collects, sources } of node.inputs) {
    const mayCome = sources.some(({ ordinal, port: from }) => ended[ordinal]!.has(from))
    if (required && !mayCome && node.kind !== 'output') return null
    const there = sources.flatMap(({ ordinal, port: from }) => valueAt(ended[ordinal], from))
    if (there.length > 0) inputs.set(port, collects ? there : [anyOf(there)])
  }
  return inputs
}

function together(outcomes: readonly Outcome[]): Outcome {
  const ports = new Set(outcomes.flatMap((outcome) => [...outcome.keys()]))
  return new Map(
    [...ports].map((port) => [port, anyOf(outcomes.flatMap((outcome) => outcome.get(port) ?? []))] as const),
  )
}
