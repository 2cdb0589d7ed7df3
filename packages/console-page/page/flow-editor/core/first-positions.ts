import type { Graph } from '@gateway/api/graph'
import type { CanvasModel } from './canvas-model.ts'
import { moveNodes } from './node-commands.ts'
import type { Position } from './position.ts'

/** Of a node as it is drawn, in pixels. */
export interface Size {
  width: number
  height: number
}

const column = 330
const row = 190

/**
 * The graph with those nodes placed that no one has placed yet: in columns, each behind those it takes values of, and below what has
 * a place already.
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

/** The longest way to each node; of nodes that wait for each other one that is long enough. */
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
