import type { FlowPackage, GraphNode } from '@gateway/api/graph'
import { layoutOf, type Layout, type Placed } from './graph/layout.ts'
import { productOf } from './node-kinds.ts'

/** Where a value may come from: an output port of a node, by its ordinal. */
export interface Source {
  ordinal: number
  port: string
}
export interface PlanInput {
  port: string
  required: boolean
  /** It takes a value of each of its sources; else of whichever came. */
  collects: boolean
  sources: Source[]
}
export interface PlanNode {
  /** Its place in the graph's list of nodes. */
  ordinal: number
  id: string
  kind: string
  /** As the package's graph has it. */
  node: GraphNode
  paid: boolean
  /** The product that it calls, or null. */
  product: string | null
  /** Its wired input ports. */
  inputs: PlanInput[]
  /** The same by port, as `Claimed.sources` of the ledger protocol has it. */
  sources: Record<string, [node: string, port: string][]>
  /** Ordinals of the nodes that take a value of this one, ascending, each once. */
  dependants: number[]
}

/** What there is to run of a package, and what waits for what. */
export interface Plan {
  /** By ordinal, in the order of the graph. */
  nodes: PlanNode[]
  /** Ordinals of the one input node and the one output node. */
  input: number
  output: number
  paidNodes: number
}

/** The plan of a package; made once per package and kept. */
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
