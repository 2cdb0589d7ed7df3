import type { Values } from '@gateway/contracts/execution'
import type { Plan, PlanNode } from '../plan.ts'
import { anyOf, type BoundedValue } from './bounded-value.ts'
import type { BoundedInputs } from './call-bound.ts'
import type { Calls } from './calls.ts'
import { inputOutcome, valueAt } from './dearest-path.ts'
import type { Outcome } from './node-outcomes.ts'

/**
 * Micro-USD of all nodes that any way of an execution may come to, together: where a branch is on what is not known, both of its
 * sides count. Never less than the dearest way alone, since a node has here whatever it may have there.
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
      if (inputs === null) ended[node.ordinal] = new Map() // it never runs
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

/** null: one that it needs will never come. */
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
