import type { Graph } from '@gateway/api/graph'
import type { CanvasModel } from './canvas-model.ts'
import { moveNodes } from './node-commands.ts'
import type { Position } from './position.ts'

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
