import { z } from 'zod'
import { graphEdge, graphNode, type Graph } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { renamedEdge } from './edges.ts'
import { freeId } from './free-id.ts'
import { nodeKeys } from './node-keys.ts'
import { positionOf, rounded } from './position.ts'

const clipping = z.strictObject({ nodes: z.array(graphNode).min(1), edges: z.array(graphEdge) })
/** Copied nodes and the edges among them. */
export type Clipping = z.infer<typeof clipping>

export function clip(graph: Graph, keys: ReadonlySet<string>): Clipping {
  const all = nodeKeys(graph)
  const nodes = graph.nodes.filter((_, ordinal) => keys.has(all[ordinal]!))
  const ids = new Set(nodes.map(({ id }) => id))
  const edges = graph.edges.filter(({ from, to }) => ids.has(endOf(from).node) && ids.has(endOf(to).node))
  return { nodes, edges }
}

/**
 * Pastes copied nodes and their edges with new IDs, offset by this many pixels. An input or output node is skipped if
 * the graph already has one, because a flow has one of each. Returns the keys of the new nodes.
 */
export function paste(graph: Graph, { nodes, edges }: Clipping, offset: number): { graph: Graph; keys: string[] } {
  const only = new Set(['input', 'output'].filter((only) => graph.nodes.some(({ kind }) => kind === only)))
  const ids = new Map<string, string>()
  const pasted = { nodes: [...graph.nodes], edges: [...graph.edges, ...edges] } // reserves their IDs
  for (const node of nodes) {
    if (only.has(node.kind) || ids.has(node.id)) continue
    const id = freeId(pasted, node.id)
    ids.set(node.id, id)
    const { x, y } = positionOf(node) ?? { x: 0, y: 0 }
    pasted.nodes.push({ ...node, id, position: rounded({ x: x + offset, y: y + offset }) })
  }
  const inner = edges.filter(({ from, to }) => ids.has(endOf(from).node) && ids.has(endOf(to).node))
  const renamed = inner.map((edge) => ({
    from: renamedEdge(edge, endOf(edge.from).node, ids.get(endOf(edge.from).node)!).from,
    to: renamedEdge(edge, endOf(edge.to).node, ids.get(endOf(edge.to).node)!).to,
  }))
  if (ids.size === 0) return { graph, keys: [] }
  return { graph: { ...graph, nodes: pasted.nodes, edges: [...graph.edges, ...renamed] }, keys: [...ids.values()] }
}

/** Parses copied nodes from clipboard text; null for any other text. */
export function readClipping(text: string): Clipping | null {
  try {
    const read = clipping.safeParse(JSON.parse(text))
    return read.success ? read.data : null
  } catch {
    return null
  }
}
