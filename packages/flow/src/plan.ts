import type { FlowPackage, GraphNode } from '@gateway/api/graph'
import { layoutOf, type Layout, type Placed } from './graph/layout.ts'
import { productOf } from './node-kinds.ts'

/** Possible source of a value: an output port of a node, by ordinal. */
export interface Source {
  ordinal: number
  port: string
}
export interface PlanInput {
  port: string
  required: boolean
  /** Takes the values of all its sources; otherwise of the one that has a value. */
  collects: boolean
  sources: Source[]
}
export interface PlanNode {
  /** Index in the graph's list of nodes. */
  ordinal: number
  id: string
  kind: string
  /** Node as in the package's graph. */
  node: GraphNode
  paid: boolean
  /** Product that it calls, or null. */
  product: string | null
  /** Wired input ports. */
  inputs: PlanInput[]
  /** Sources by port, in the form of `Claimed.sources` of the ledger protocol. */
  sources: Record<string, [node: string, port: string][]>
  /** Ordinals of the nodes that take a value from this one, ascending, each once. */
  dependants: number[]
}

/** Nodes of a package and their dependencies. */
export interface Plan {
  /** By ordinal, in the order of the graph. */
  nodes: PlanNode[]
  /** Ordinals of the input and the output node. */
  input: number
  output: number
  paidNodes: number
}

/** Returns the plan of a package; cached per package. */
export function planOf({ graph }: FlowPackage): Plan {
  const layout = layoutOf(graph)
  const nodes = layout.placed.map((placed, ordinal) => {
    if (!placed) throw new Error(`a package has a node of the unknown kind ${graph.nodes[ordinal]!.kind}`)
    return planNode(placed, layout)
  })
  return {
    nodes,
    input: nodes.findIndex(({ kind }) => kind === 'input'),
    output: nodes.findIndex(({ kind }) => kind === 'output'),
    paidNodes: nodes.filter(({ paid }) => paid).length,
  }
}

function planNode({ ordinal, id, node, kind, look }: Placed, { wires, into }: Layout): PlanNode {
  const inputs = [...into[ordinal]!].map(([port, from]) => ({
    port,
    required: look.inputs.get(port)!.required,
    collects: kind.collects?.includes(port) ?? false,
    sources: from.map((wire) => ({ ordinal: wire.from.ordinal, port: wire.port })),
  }))
  const sources = [...into[ordinal]!].map(
    ([port, from]) => [port, from.map((wire): [string, string] => [wire.from.id, wire.port])] as const,
  )
  const dependants = new Set(wires.filter(({ from }) => from.ordinal === ordinal).map(({ to }) => to.ordinal))
  return {
    ordinal,
    id,
    kind: kind.kind,
    node,
    paid: kind.calls !== null,
    product: productOf(node),
    inputs,
    sources: Object.fromEntries(sources),
    dependants: [...dependants].toSorted((a, b) => a - b),
  }
}
