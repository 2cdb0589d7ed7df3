import type { Graph } from '@gateway/api/graph'
import type { CanvasModel } from './canvas-model.ts'
import { moveNodes } from './node-commands.ts'
import { type Position, NODE_WIDTH } from './position.ts'

/** Rendered size of a node, in pixels. */
export interface Size {
  width: number
  height: number
}

const column = 330
const row = 220

/**
 * Positions the nodes that have no position yet: in columns, each to the right of its sources, and below all nodes that
 * have a position.
 */
export function placed({ graph, nodes, edges }: CanvasModel): Graph {
  const without = nodes.filter(({ position }) => position === null)
  if (without.length === 0) return graph
  const lowest = Math.max(...nodes.map(({ position }) => position?.y ?? -row))
  const columns = columnsOf(
    nodes.map(({ key }) => key),
    edges,
  )
  const filled = new Map<number, number>()
  const positions = without.map(({ key }): [string, Position] => {
    const at = columns.get(key)!
    const rows = filled.get(at) ?? 0
    filled.set(at, rows + 1)
    return [key, { x: at * column, y: lowest + (rows + 1) * row }]
  })
  return moveNodes(graph, new Map(positions))
}

/** Column of each node: the length of the longest path to it. A cycle is cut off at the number of nodes. */
function columnsOf(keys: readonly string[], edges: CanvasModel['edges']): Map<string, number> {
  const columns = new Map(keys.map((key) => [key, 0]))
  for (let round = 0; round < keys.length; round++) {
    let isChanged = false
    for (const { from, to } of edges) {
      const behind = columns.get(from.key)! + 1
      if (columns.get(to.key)! >= behind || behind > keys.length) continue
      columns.set(to.key, behind)
      isChanged = true
    }
    if (!isChanged) break
  }
  return columns
}

export interface Box extends Position, Size {}

/** Distance kept between nodes, in pixels. */
const GAP = 24
const STEP = 28
const MOST_RINGS = 400

/** Size of a node that has not been rendered yet; most nodes with two or three ports are as high or lower. */
export const newNodeSize: Size = { width: NODE_WIDTH, height: 170 }

const directions: readonly Position[] = [
  { x: 0, y: 1 },
  { x: 1, y: 0 },
  { x: 0, y: -1 },
  { x: 1, y: 1 },
  { x: -1, y: 0 },
  { x: 1, y: -1 },
  { x: -1, y: 1 },
  { x: -1, y: -1 },
]

/** Returns the free place for a new node that is the nearest to the wanted one, in eight directions. */
export function freePlace(boxes: readonly Box[], wanted: Position, size: Size = newNodeSize): Position {
  const isFree = ({ x, y }: Position) =>
    boxes.every(
      (box) =>
        x + size.width + GAP <= box.x ||
        box.x + box.width + GAP <= x ||
        y + size.height + GAP <= box.y ||
        box.y + box.height + GAP <= y,
    )
  for (let ring = 0; ring < MOST_RINGS; ring++) {
    for (const { x, y } of directions) {
      const place = { x: wanted.x + x * ring * STEP, y: wanted.y + y * ring * STEP }
      if (isFree(place)) return place
    }
  }
  return { x: wanted.x, y: Math.max(...boxes.map(({ y, height }) => y + height)) + GAP }
}
