import type { EstimatedProduct } from '@gateway/api/estimate'
import type { PlanNode } from '../plan.ts'
import type { BoundedValue } from './bounded-value.ts'
import { callBound, type BoundedInputs } from './call-bound.ts'
import { outcomesOf, type Outcome } from './node-outcomes.ts'

/** Outcomes and costs of nodes, shared by all paths of an estimate. */
export interface Calls {
  /** Returns the outcomes for these inputs; cached per inputs. */
  perform(node: PlanNode, inputs: BoundedInputs): Performed
  /** Max micro-USD of the node over all inputs seen. */
  atMost(ordinal: number): bigint
}

export interface Performed {
  outcomes: Outcome[]
  micro: bigint
}

/** Maximum runs of free nodes, each up to 50 ms (C4 of cel.ts). Beyond it, values are bounded by their size only. */
const MOST_RUNS = 100

export function openCalls(products: readonly EstimatedProduct[]): Calls {
  const byId = new Map(products.map((product) => [product.id, product]))
  const performed = new Map<string, Performed>()
  const bounds = new Map<number, bigint>()
  const ids = new Map<BoundedValue, number>()
  let runs = 0
  const mayRun = () => runs++ < MOST_RUNS

  /** Identifies a value by object identity, because values pass from port to port unchanged. */
  function idOf(value: BoundedValue): number {
    const id = ids.get(value) ?? ids.size
    ids.set(value, id)
    return id
  }

  return {
    perform(node, inputs) {
      const name = JSON.stringify([node.ordinal, [...inputs].map(([port, values]) => [port, values.map(idOf)])])
      const before = performed.get(name)
      if (before) return before
      const product = node.product === null ? undefined : byId.get(node.product)
      const micro = product ? callBound(node.node, inputs, product) : 0n
      const most = bounds.get(node.ordinal) ?? 0n
      bounds.set(node.ordinal, micro > most ? micro : most)
      const now = { outcomes: outcomesOf(node, inputs, mayRun), micro }
      performed.set(name, now)
      return now
    },
    atMost: (ordinal) => bounds.get(ordinal) ?? 0n,
  }
}
