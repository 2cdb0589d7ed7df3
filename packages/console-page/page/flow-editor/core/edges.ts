import type { GraphEdge } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'

/** Names an edge; two edges of one name are one edge that is there twice. */
export const edgeKey = ({ from, to }: GraphEdge) => JSON.stringify([from, to])

/** The edge whose ends at that node name it again. */
export function renamedEdge(edge: GraphEdge, oldId: string, newId: string): GraphEdge {
  return { from: renamedEnd(edge.from, oldId, newId), to: renamedEnd(edge.to, oldId, newId) }
}

function renamedEnd(end: string, oldId: string, newId: string): string {
  return endOf(end).node === oldId ? `${newId}${end.slice(oldId.length)}` : end
}
