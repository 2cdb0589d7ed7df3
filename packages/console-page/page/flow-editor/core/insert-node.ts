import type { Graph } from '@gateway/api/graph'
import type { Addable } from './addable.ts'
import { canvasModel, type Products } from './canvas-model.ts'
import { drawEdge, targetsOf, type PortRef } from './connection.ts'
import { addNode } from './node-commands.ts'
import type { Position } from './position.ts'

/** Adds a node and, if possible, connects it to a port, in one history step. Returns the key of the node. */
export function insertNode(
  graph: Graph,
  products: Products,
  { kind, fields }: Pick<Addable, 'kind' | 'fields'>,
  position: Position,
  from: PortRef | null = null,
): { graph: Graph; id: string } {
  const added = addNode(graph, { kind, fields, position })
  if (!from) return added
  const [target] = targetsOf(canvasModel(added.graph, products), products, from).filter(({ key }) => key === added.id)
  return target?.reason === null ? { ...added, graph: drawEdge(added.graph, products, target.edge) } : added
}
