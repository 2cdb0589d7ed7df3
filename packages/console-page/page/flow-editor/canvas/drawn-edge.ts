import type { GraphEdge } from '@gateway/api/graph'

interface End {
  nodeId: string
  id?: string | null
  type: 'source' | 'target'
}

/** Edge between two handles, dragged in either direction; null between two inputs or two outputs. */
export function drawnEdge(a: End, b: End): GraphEdge | null {
  if (a.type === b.type) return null
  const [from, to] = a.type === 'source' ? [a, b] : [b, a]
  return { from: `${from.nodeId}.${from.id ?? ''}`, to: `${to.nodeId}.${to.id ?? ''}` }
}
