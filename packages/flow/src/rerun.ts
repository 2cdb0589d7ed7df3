import canonicalize from 'canonicalize'
import type { ContractSide, FlowPackage } from '@gateway/api/graph'
import { advance, type NodeState } from './advance.ts'
import type { Plan, PlanNode } from './plan.ts'

// Which results of an execution that has ended another one takes over, and what the other runs again (flows §4.12).
//   T1  The chosen node and everything below it runs again. So does a node that has no result, because it never ended, failed or
//       was not there, and everything below it.
//   T2  All others are taken over: what they answered, or that they were skipped. Each must be defined unchanged: its kind, what
//       it is configured with, its edges with their sources; of the input and the output also their side of the contract. All
//       that it depends on is taken over too, so its result is what it would be of this package and this input.
//   T3  The input is the earlier one's, no matter what runs again.

/** A package, and what is planned of it. */
export interface PlannedFlow {
  plan: Plan
  package: FlowPackage
}

export type Rerun =
  | { kind: 'unknown-node' }
  /** Ids of nodes that would be taken over, and are not what they were. */
  | { kind: 'differs'; nodes: string[] }
  | {
      kind: 'rerun'
      /** By ordinal, of nodes whose results are taken over: their ordinal in the earlier execution. */
      takenOver: Map<number, number>
      /** Ordinal of the earlier execution's input node. */
      input: number
      /** Of the execution as it begins. */
      states: NodeState[]
    }

/**
 * What an execution of `flow` takes over of an earlier one, and how it begins.
 * @param earlier what it ran, and how far each of its nodes came, by ordinal
 * @param from id of the chosen node
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

/** These nodes and all below them. */
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

/** All that decides what a node answers to the same values, as text: the same for the same. */
function definitionOf({ plan, package: flow }: PlannedFlow, ordinal: number): string {
  const { node, inputs } = plan.nodes[ordinal]!
  const sources = inputs.map(({ port, collects, sources: from }) => {
    const ends = from.map((source) => [plan.nodes[source.ordinal]!.id, source.port].join(' '))
    return [port, collects ? ends : ends.toSorted()] // of those that exclude each other the order decides nothing
  })
  const side = ordinal === plan.input ? flow.input : ordinal === plan.output ? flow.output : null
  return canonicalize([node, Object.fromEntries(sources), side && contractOf(side)])!
}

/** What values are held to: a title or a description changes nothing. */
function contractOf({ properties, required = [] }: ContractSide) {
  const fields = Object.entries(properties).map(([name, { title: _, description: __, ...held }]) => [name, held])
  return { fields: Object.fromEntries(fields) as object, required: required.toSorted() }
}
