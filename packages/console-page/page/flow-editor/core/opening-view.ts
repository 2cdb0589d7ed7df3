import type { Position } from './position.ts'

export interface Box extends Position {
  width: number
  height: number
}

/** The smallest text of a node, 13 pixels, is at least 11 on the screen. */
export const READABLE_ZOOM = 0.85
const EDGE = 40

/**
 * Returns the view in which a flow opens: all of it in the middle, or, if its text were too small, its start on the
 * left.
 * @param bounds of all nodes
 * @param start the node that the flow begins with
 */
export function openingView(
  canvas: { width: number; height: number },
  bounds: Box,
  start: Box,
): { x: number; y: number; zoom: number } {
  const fitting = Math.min(1, (canvas.width - 2 * EDGE) / bounds.width, (canvas.height - 2 * EDGE) / bounds.height)
  if (fitting >= READABLE_ZOOM) return { ...middle(canvas, bounds, fitting), zoom: fitting }
  const zoom = READABLE_ZOOM
  const { x, y } = middle(canvas, bounds, zoom)
  const isWide = bounds.width * zoom > canvas.width - 2 * EDGE
  const isHigh = bounds.height * zoom > canvas.height - 2 * EDGE
  return { x: isWide ? EDGE - start.x * zoom : x, y: isHigh ? middle(canvas, start, zoom).y : y, zoom }
}

function middle(canvas: { width: number; height: number }, { x, y, width, height }: Box, zoom: number): Position {
  return { x: canvas.width / 2 - (x + width / 2) * zoom, y: canvas.height / 2 - (y + height / 2) * zoom }
}
