import dagre from '@dagrejs/dagre'
import type { CanvasModel } from './canvas-model.ts'
import { moveNodes } from './node-commands.ts'
import type { Position } from './position.ts'
import type { Graph } from '@gateway/contracts/graph'

/** Sizes as the style sheet has them, in pixels; what is drawn already is measured instead. */
const size = { width: 232, head: 58, port: 26, rest: 20 }

export interface Size {
  width: number
  height: number
}

/** The graph with every node moved, so that values go from left to right and edges cross as little as may be. */
export function arranged(model: CanvasModel, measured: ReadonlyMap<string, Size> = new Map()): Graph {
  return moveNodes(model.graph, positions(model, measured))
}

/** The graph with those nodes placed that have no position yet: all of them, or beside what has one. */
export function placed(model: CanvasModel): Graph {
  const without = model.nodes.filter(({ position }) => position === null)
  if (without.length === 0) return model.graph
  const wanted = positions(model, new Map())
  if (without.length === model.nodes.length) return moveNodes(model.graph, wanted)
  const lowest = Math.max(...model.nodes.map(({ position }) => position?.y ?? 0))
  return moveNodes(
    model.graph,
    new Map(without.map(({ key }) => [key, { x: wanted.get(key)!.x, y: wanted.get(key)!.y + lowest + 200 }])),
  )
}

function positions({ nodes, edges }: CanvasModel, measured: ReadonlyMap<string, Size>): Map<string, Position> {
  const drawing = new dagre.graphlib.Graph({ multigraph: true })
  drawing.setGraph({ rankdir: 'LR', nodesep: 36, ranksep: 96, marginx: 40, marginy: 40 })
  drawing.setDefaultEdgeLabel(() => ({}))
  for (const { key, inputs, outputs } of nodes) {
    const rows = Math.max(inputs.length, outputs.length)
    drawing.setNode(key, measured.get(key) ?? { width: size.width, height: size.head + rows * size.port + size.rest })
  }
  for (const { key, from, to } of edges) drawing.setEdge(from.key, to.key, {}, key)
  dagre.layout(drawing)
  return new Map(
    nodes.map(({ key }) => {
      const { x, y, width, height } = drawing.node(key) as Position & Size
      return [key, { x: x - width / 2, y: y - height / 2 }]
    }),
  )
}
