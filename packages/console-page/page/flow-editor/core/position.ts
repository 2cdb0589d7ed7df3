import type { GraphNode } from '@gateway/api/graph'

/** Where a node is drawn, in pixels of the canvas; its upper left corner. */
export interface Position {
  x: number
  y: number
}

/** What the node's note says of it; null where it says nothing that can be used. */
export function positionOf(node: GraphNode): Position | null {
  const { x, y } = (node['position'] ?? {}) as { x?: unknown; y?: unknown }
  return typeof x === 'number' && typeof y === 'number' && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null
}

/** On whole pixels, so that the JSON of a graph stays readable. */
export function rounded({ x, y }: Position): Position {
  return { x: Math.round(x) + 0, y: Math.round(y) + 0 }
}
