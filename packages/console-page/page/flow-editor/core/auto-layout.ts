import dagre from '@dagrejs/dagre'
import type { CanvasModel } from './canvas-model.ts'
import { NODE_WIDTH, type Position } from './position.ts'
import type { Size } from './placement.ts'

/** Sizes from the stylesheet, in pixels, for nodes that have not been measured yet. */
const size = { width: NODE_WIDTH, head: 58, port: 26, rest: 20 }

/** Positions that make values flow from left to right with few edge crossings. This module is loaded on demand. */
export function arranged({ nodes, edges }: CanvasModel, measured: ReadonlyMap<string, Size>): Map<string, Position> {
  const drawing = new dagre.graphlib.Graph({ multigraph: true })
  drawing.setGraph({ rankdir: 'LR', nodesep: 36, ranksep: 72, marginx: 40, marginy: 40 })
  drawing.setDefaultEdgeLabel(() => ({}))
  for (const { key, inputs, outputs } of nodes) {
    const rows = Math.max(inputs.length, outputs.length)
    drawing.setNode(key, measured.get(key) ?? { width: size.width, height: size.head + rows * size.port + size.rest })
  }
  for (const { key, from, to } of edges) drawing.setEdge(from.key, to.key, {}, key)
  dagre.layout(drawing)
  const corner = ({ key }: { key: string }): [string, Position] => {
    const { x, y, width, height } = drawing.node(key) as Position & Size
    return [key, { x: x - width / 2, y: y - height / 2 }]
  }
  return new Map(nodes.map(corner))
}
