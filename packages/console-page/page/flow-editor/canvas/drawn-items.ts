import type { Edge, Node } from '@xyflow/react'
import type { CanvasModel, CanvasNode } from '../core/canvas-model.ts'
import { kindTitle } from '../core/kind-labels.ts'
import type { Position } from '../core/position.ts'
import type { Size } from '../core/first-positions.ts'

// Converts a canvas model to the nodes and edges of the canvas library.

export type FlowNode = Node<{ drawn: CanvasNode }, 'node'>
export type FlowEdge = Edge

interface DrawnState {
  selected: ReadonlySet<string>
  /** Current positions of nodes being dragged. */
  dragged: ReadonlyMap<string, Position>
  sizes: ReadonlyMap<string, Size>
}

export function flowNodes({ nodes }: CanvasModel, { selected, dragged, sizes }: DrawnState): FlowNode[] {
  return nodes.map((drawn) => {
    const measured = sizes.get(drawn.key)
    return {
      id: drawn.key,
      type: 'node',
      position: dragged.get(drawn.key) ?? drawn.position ?? { x: 0, y: 0 },
      data: { drawn },
      selected: selected.has(drawn.key),
      ariaLabel: `${kindTitle(drawn.node.kind).title} ${drawn.node.id}`,
      ...(measured && { measured }),
    }
  })
}

export function flowEdges({ edges }: CanvasModel, selected: ReadonlySet<string>): FlowEdge[] {
  return edges.map(({ key, edge, from, to, type, hasProblem }) => ({
    id: key,
    source: from.key,
    sourceHandle: from.port,
    target: to.key,
    targetHandle: to.port,
    selected: selected.has(key),
    className: `type-${type}${hasProblem ? ' faulty' : ''}`,
    ariaLabel: `From ${edge.from} to ${edge.to}`,
  }))
}
