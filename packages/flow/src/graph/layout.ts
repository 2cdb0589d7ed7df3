import type { Graph, GraphEdge, GraphNode } from '@gateway/api/graph'
import { readableFields } from '../contract/read-side.ts'
import { nodeKind } from '../node-kinds.ts'
import type { Look, NodeKind } from '../node-kind.ts'

/** Parsed node of a known kind. */
export interface Placed {
  ordinal: number
  id: string
  node: GraphNode
  kind: NodeKind
  look: Look
}

/** Edge between existing ports. */
export interface Wire {
  from: Placed
  port: string
  to: Placed
  toPort: string
}

/** Graph with resolved edges. Edges that can't be resolved are reported by `edgeFault`. */
export interface Layout {
  /** By ordinal; null for a node of an unknown kind. Of two nodes with one ID, edges resolve to the first. */
  placed: (Placed | null)[]
  wires: Wire[]
  /** By ordinal: input ports with their incoming wires, in the order of the edges. */
  into: Map<string, Wire[]>[]
  /** Nodes in topological order. */
  order: Placed[]
  /** Nodes without a topological order: on a cycle or behind one. */
  stuck: Placed[]
}

export function layoutOf(graph: Graph): Layout {
  const contract = { input: readableFields(graph.input), output: readableFields(graph.output) }
  const placed = graph.nodes.map((node, ordinal) => {
    const kind = nodeKind(node.kind)
    return kind && { ordinal, id: node.id, node, kind, look: kind.look(node, contract) }
  })
  const byId = idsOf(placed)
  const seen = new Set<string>()
  const wires: Wire[] = []
  for (const edge of graph.edges) {
    const wire = wireOf(edge, byId)
    if (!wire || seen.has(`${edge.from} ${edge.to}`)) continue
    seen.add(`${edge.from} ${edge.to}`)
    wires.push(wire)
  }
  const into = graph.nodes.map(() => new Map<string, Wire[]>())
  for (const wire of wires) {
    const ports = into[wire.to.ordinal]!
    ports.set(wire.toPort, [...(ports.get(wire.toPort) ?? []), wire])
  }
  return { placed, wires, into, ...ordered(placed, wires) }
}

export function idsOf(placed: (Placed | null)[]): Map<string, Placed> {
  const byId = new Map<string, Placed>()
  for (const node of placed) if (node && !byId.has(node.id)) byId.set(node.id, node)
  return byId
}

/** Splits `node.port` at the first dot; node ids contain no dot. */
export function endOf(end: string): { node: string; port: string } {
  const dot = end.indexOf('.')
  return dot < 0 ? { node: end, port: '' } : { node: end.slice(0, dot), port: end.slice(dot + 1) }
}

function wireOf(edge: GraphEdge, byId: Map<string, Placed>): Wire | null {
  const [source, target] = [endOf(edge.from), endOf(edge.to)]
  const [from, to] = [byId.get(source.node), byId.get(target.node)]
  if (!from?.look.outputs.includes(source.port) || !to?.look.inputs.has(target.port)) return null
  return { from, port: source.port, to, toPort: target.port }
}

/** Kahn's algorithm. */
function ordered(placed: (Placed | null)[], wires: Wire[]): { order: Placed[]; stuck: Placed[] } {
  const waitsFor = placed.map(() => 0)
  const after = placed.map((): Placed[] => [])
  for (const { from, to } of wires) {
    waitsFor[to.ordinal]!++
    after[from.ordinal]!.push(to)
  }
  const known = placed.filter((node) => node !== null)
  const order = known.filter(({ ordinal }) => waitsFor[ordinal] === 0)
  for (const node of order)
    for (const next of after[node.ordinal]!) if (--waitsFor[next.ordinal]! === 0) order.push(next)
  return { order, stuck: known.filter(({ ordinal }) => waitsFor[ordinal]! > 0) }
}

/**
 * Fields that authors may set on a node of any kind. They are not used at run time and not part of a package, so moving
 * a node does not change the digest.
 */
export const notes: readonly string[] = ['title', 'description', 'position']

export function withoutNotes(node: GraphNode): GraphNode {
  return Object.fromEntries(Object.entries(node).filter(([field]) => !notes.includes(field))) as GraphNode
}
