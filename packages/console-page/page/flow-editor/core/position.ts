import type { GraphNode } from '@gateway/api/graph'

/** Upper left corner of a node, in canvas pixels. */
export interface Position {
  x: number
  y: number
}

/** Stored position of a node, or null if it is missing or invalid. */
export function positionOf(node: GraphNode): Position | null {
  const { x, y } = (node['position'] ?? {}) as { x?: unknown; y?: unknown }
  return typeof x === 'number' && typeof y === 'number' && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null
}

/** Rounds to whole pixels, so that the JSON of a graph stays readable. */
export function rounded({ x, y }: Position): Position {
  return { x: Math.round(x) + 0, y: Math.round(y) + 0 }
}

/** Of a node on the canvas, in pixels; canvas.css has the same. */
export const NODE_WIDTH = 256
