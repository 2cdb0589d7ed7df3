import type { GraphEdge } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'

/** Key of an edge. Edges with the same key are duplicates. */
export const edgeKey = ({ from, to }: GraphEdge) => JSON.stringify([from, to])

/** Edge with the node ID at its ends replaced. */
export function renamedEdge(edge: GraphEdge, oldId: string, newId: string): GraphEdge {
  return { from: renamedEnd(edge.from, oldId, newId), to: renamedEnd(edge.to, oldId, newId) }
}

function renamedEnd(end: string, oldId: string, newId: string): string {
  return endOf(end).node === oldId ? `${newId}${end.slice(oldId.length)}` : end
}
