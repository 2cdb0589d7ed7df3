import canonicalize from 'canonicalize'
import type { ContractSide, FlowPackage } from '@gateway/api/graph'
import { advance, type NodeState } from './advance.ts'
import type { Plan, PlanNode } from './plan.ts'

// Decides which results of an ended execution a rerun reuses and which nodes it runs again (flows §4.12).
//   T1  The chosen node and everything below it run again. So do nodes without a result, because they never ended,
//       failed or did not exist, and everything below them.
//   T2  The results of all other nodes are reused, including that they were skipped. Their definition must be
//       unchanged: kind, configuration, and edges with their sources; for input and output also their side of the
//       contract. Everything such a node depends on is reused too, so its result is the one it would have with this
//       package and input.
//   T3  The input is that of the earlier execution, regardless of which nodes run again.

/** Package and its plan. */
export interface PlannedFlow {
  plan: Plan
  package: FlowPackage
}

export type Rerun =
  | { kind: 'unknown-node' }
  /** Ids of nodes that would be reused but whose definition differs. */
  | { kind: 'differs'; nodes: string[] }
  | {
      kind: 'rerun'
      /** By ordinal of a reused node: its ordinal in the earlier execution. */
      takenOver: Map<number, number>
      /** Ordinal of the input node in the earlier execution. */
      input: number
      /** Initial states of the rerun. */
      states: NodeState[]
    }

/**
 * Returns what an execution of `flow` reuses from an earlier one, and its initial states.
 * @param earlier flow of the earlier execution, and the states of its nodes by ordinal
 * @param from ID of the chosen node
 */
export function rerunFrom(
  flow: PlannedFlow,
  earlier: PlannedFlow & { states: readonly NodeState[] },
  from: string,
): Rerun {
  const { plan } = flow
  const chosen = plan.nodes.find(({ id }) => id === from)
  if (chosen === undefined) return { kind: 'unknown-node' }
  const ordinals = new Map(earlier.plan.nodes.map(({ id, ordinal }) => [id, ordinal]))
  const hasResult = ({ id }: PlanNode) => isResult(earlier.states[ordinals.get(id) ?? -1])
  const rerunNodes = closureOf(plan, [chosen, ...plan.nodes.filter((node) => !hasResult(node))])
  const kept = plan.nodes.filter(({ ordinal }) => !rerunNodes.has(ordinal))
  const same = ({ id, ordinal }: PlanNode) => {
    const before = ordinals.get(id)
    return before !== undefined && definitionOf(flow, ordinal) === definitionOf(earlier, before)
  }
  const differing = [...new Set([plan.nodes[plan.input]!, ...kept])].filter((node) => !same(node)) // T2, T3
  if (differing.length > 0) return { kind: 'differs', nodes: differing.map(({ id }) => id) }
  const takenOver = new Map(kept.map(({ id, ordinal }) => [ordinal, ordinals.get(id)!]))
  return { kind: 'rerun', takenOver, input: earlier.plan.input, states: statesOf(flow, earlier, takenOver) }
}

/** Returns these nodes and all nodes below them. */
function closureOf(plan: Plan, nodes: readonly PlanNode[]): Set<number> {
  const found = new Set(nodes.map(({ ordinal }) => ordinal))
  for (const ordinal of found) for (const below of plan.nodes[ordinal]!.dependants) found.add(below)
  return found
}

function isResult(node: NodeState | undefined): boolean {
  return node?.state === 'Succeeded' || node?.state === 'Skipped'
}

function statesOf(
  { plan }: PlannedFlow,
  earlier: { plan: Plan; states: readonly NodeState[] },
  takenOver: ReadonlyMap<number, number>,
): NodeState[] {
  const states = plan.nodes.map(({ ordinal }): NodeState => {
    const before = ordinal === plan.input ? earlier.plan.input : takenOver.get(ordinal) // T3
    return before === undefined ? { state: 'Pending', ports: [] } : earlier.states[before]!
  })
  const { ready, skipped } = advance(plan, states)
  for (const ordinal of ready) states[ordinal] = { state: 'Ready', ports: [] }
  for (const ordinal of skipped) states[ordinal] = { state: 'Skipped', ports: [] }
  return states
}

/** Serializes everything that determines a node's output for the same inputs; equal definitions give equal text. */
function definitionOf({ plan, package: flow }: PlannedFlow, ordinal: number): string {
  const { node, inputs } = plan.nodes[ordinal]!
  const sources = inputs.map(({ port, collects, sources: from }) => {
    const ends = from.map((source) => [plan.nodes[source.ordinal]!.id, source.port].join(' '))
    return [port, collects ? ends : ends.toSorted()] // the order of exclusive sources doesn't matter
  })
  const side = ordinal === plan.input ? flow.input : ordinal === plan.output ? flow.output : null
  return canonicalize([node, Object.fromEntries(sources), side && contractOf(side)])!
}

/** Returns the part of a contract that values are checked against: without titles and descriptions. */
function contractOf({ properties, required = [] }: ContractSide) {
  const fields = Object.entries(properties).map(([name, { title: _, description: __, ...held }]) => [name, held])
  return { fields: Object.fromEntries(fields) as object, required: required.toSorted() }
}
