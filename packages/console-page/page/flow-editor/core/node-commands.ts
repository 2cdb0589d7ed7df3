import type { Graph, GraphNode } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { edgeKey, renamedEdge } from './edges.ts'
import { freeId, idForKind } from './free-id.ts'
import { startingFields } from './starting-fields.ts'
import { nodeKeys, nodeOf } from './node-keys.ts'
import { rounded, type Position } from './position.ts'

// Edits of nodes. Each returns a new graph, or the same object if nothing changed, so that the history has no empty
// steps.

export interface NewNode {
  kind: string
  position: Position
  /** Fields that override the starting fields of the kind. */
  fields?: Readonly<Record<string, unknown>>
}

export function addNode(graph: Graph, { kind, position, fields }: NewNode): { graph: Graph; id: string } {
  const id = freeId(graph, idForKind(kind))
  const node: GraphNode = { id, kind, ...startingFields(kind), ...fields, position: rounded(position) }
  return { graph: { ...graph, nodes: [...graph.nodes, node] }, id }
}

/** Removes nodes with their edges. Edges stay if another node with the same ID remains. */
export function removeNodes(graph: Graph, keys: ReadonlySet<string>): Graph {
  const all = nodeKeys(graph)
  const nodes = graph.nodes.filter((_, ordinal) => !keys.has(all[ordinal]!))
  if (nodes.length === graph.nodes.length) return graph
  const left = new Set(nodes.map(({ id }) => id))
  const gone = new Set(graph.nodes.map(({ id }) => id).filter((id) => !left.has(id)))
  const edges = graph.edges.filter(({ from, to }) => !gone.has(endOf(from).node) && !gone.has(endOf(to).node))
  return { ...graph, nodes, edges: edges.length === graph.edges.length ? graph.edges : edges }
}

export function moveNodes(graph: Graph, positions: ReadonlyMap<string, Position>): Graph {
  return changeNodes(graph, (node, key) => {
    const wanted = positions.get(key)
    if (!wanted) return node
    const position = rounded(wanted)
    const before = node['position'] as Position | undefined
    return before?.x === position.x && before.y === position.y ? node : { ...node, position }
  })
}

/** @param value undefined removes the field */
export function setField(graph: Graph, key: string, field: string, value: unknown): Graph {
  return changeNodes(graph, (node, itsKey) => {
    if (itsKey !== key || node[field] === value) return node
    const { [field]: _, ...others } = node
    return (value === undefined ? others : { ...node, [field]: value }) as GraphNode
  })
}

/** Renames a node and updates its edges. If another node has the old ID, the edges stay with that node. */
export function renameNode(graph: Graph, key: string, id: string): Graph {
  const renamed = changeNodes(graph, (node, itsKey) => (itsKey !== key || node.id === id ? node : { ...node, id }))
  if (renamed === graph) return graph
  const before = nodeOf(graph, key)!.id
  if (renamed.nodes.some((node) => node.id === before)) return renamed
  return { ...renamed, edges: graph.edges.map((edge) => renamedEdge(edge, before, id)) }
}

export function connect(graph: Graph, edge: Graph['edges'][number]): Graph {
  const isThere = graph.edges.some((other) => edgeKey(other) === edgeKey(edge))
  return isThere ? graph : { ...graph, edges: [...graph.edges, { from: edge.from, to: edge.to }] }
}

/** @param keys from `edgeKey` */
export function disconnect(graph: Graph, keys: ReadonlySet<string>): Graph {
  const edges = graph.edges.filter((edge) => !keys.has(edgeKey(edge)))
  return edges.length === graph.edges.length ? graph : { ...graph, edges }
}

function changeNodes(graph: Graph, change: (node: GraphNode, key: string) => GraphNode): Graph {
  const keys = nodeKeys(graph)
  const nodes = graph.nodes.map((node, ordinal) => change(node, keys[ordinal]!))
  return nodes.every((node, ordinal) => node === graph.nodes[ordinal]) ? graph : { ...graph, nodes }
}
