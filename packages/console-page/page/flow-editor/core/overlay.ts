import type { Graph, GraphEdge, GraphNode } from '@gateway/api/graph'
import type { Difference } from '@gateway/flow/compare/difference'
import { edgeKey } from './edges.ts'

export type Change = 'added' | 'removed' | 'changed' | 'moved' | 'same'

/** Two graphs overlaid. Nodes and edges of both appear once, in the version of the later graph. */
export interface Overlay {
  graph: Graph
  /** By node ID. */
  nodes: ReadonlyMap<string, Change>
  /** By edge key. An edge is never `changed`. */
  edges: ReadonlyMap<string, Change>
}

/** Overlays two graphs. @param difference from the first to the second */
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
