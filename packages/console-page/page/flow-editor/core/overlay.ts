import type { Graph, GraphEdge, GraphNode } from '@gateway/api/graph'
import type { Difference } from '@gateway/flow/compare/difference'
import { edgeKey } from './edges.ts'

export type Change = 'added' | 'removed' | 'changed' | 'moved' | 'same'

/** Two graphs over each other: what both have is there once, as the later one has it. */
export interface Overlay {
  graph: Graph
  /** By id of a node. */
  nodes: ReadonlyMap<string, Change>
  /** By key of an edge; one is never changed. */
  edges: ReadonlyMap<string, Change>
}

/** @param difference of these two, in this order */
export function overlayOf(before: Graph, after: Graph, { parts, moved }: Difference): Overlay {
  const [oldNodes, newNodes] = [byId(before), byId(after)]
  const [oldEdges, newEdges] = [byKey(before), byKey(after)]
  const changed = new Set(parts.map(({ key }) => key))
  const ofNode = (id: string): Change => {
    if (!oldNodes.has(id)) return 'added'
    if (!newNodes.has(id)) return 'removed'
    return changed.has(`node ${id}`) ? 'changed' : moved.includes(id) ? 'moved' : 'same'
  }
  const nodes = new Map([...oldNodes, ...newNodes])
  const edges = new Map([...oldEdges, ...newEdges])
  return {
    graph: { ...after, nodes: [...nodes.values()], edges: [...edges.values()] },
    nodes: new Map([...nodes.keys()].map((id) => [id, ofNode(id)])),
    edges: new Map(
      [...edges.keys()].map((key) => [key, !oldEdges.has(key) ? 'added' : newEdges.has(key) ? 'same' : 'removed']),
    ),
  }
}

const byId = ({ nodes }: Graph) => new Map<string, GraphNode>(nodes.map((node) => [node.id, node]))
const byKey = ({ edges }: Graph) => new Map<string, GraphEdge>(edges.map((edge) => [edgeKey(edge), edge]))
