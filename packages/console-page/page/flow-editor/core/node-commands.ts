import type { Graph, GraphNode } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { edgeKey, renamedEdge } from './edges.ts'
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

const starting: Readonly<Record<string, Record<string, unknown>>> = {
  template: { template: 'Write about {{ text }}.' },
  expression: { expression: 'size(text)' },
  branch: { condition: 'size(text) > 400' },
  constant: { value: '' },
}

/** Initial fields of a node of a kind, so that it has ports from the start. */
export function startingFields(kind: string): Readonly<Record<string, unknown>> {
  return starting[kind] ?? {}
}

const LONGEST_ID = 64
const beginnings: Readonly<Record<string, string>> = { input: 'in', output: 'out', constant: 'value', branch: 'branch' }

/** ID that no node or edge of the graph uses: `wanted` itself, or with a number appended. */
export function freeId({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>, wanted: string): string {
  const named = edges.flatMap(({ from, to }) => [from, to]).map((end) => end.split('.', 1)[0])
  const taken = new Set([...nodes.map(({ id }) => id), ...named])
  const stem = stemOf(wanted)
  let id = stem
  for (let number = 2; taken.has(id); number++) id = `${stem.slice(0, LONGEST_ID - 5)}-${number}`
  return id
}

/** Strips the number: `draft-2` has the stem `draft`, so IDs of copies of copies stay short. */
function stemOf(wanted: string): string {
  const stem = wanted
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .replace(/-\d+$/, '')
    .slice(0, LONGEST_ID)
  return stem === '' ? 'node' : stem
}

/** Initial ID of a node of a kind, such as `chat` for `product.chat`. */
function idForKind(kind: string): string {
  return beginnings[kind] ?? kind.slice(kind.lastIndexOf('.') + 1)
}

const known = new WeakMap<Graph['nodes'], string[]>()

/**
 * Unique keys of the nodes, in their order: the ID, with a number appended if an earlier node has the same ID.
 * Duplicate IDs are a problem of the graph, which must still be drawn.
 */
export function nodeKeys({ nodes }: Graph): string[] {
  const before = known.get(nodes)
  if (before) return before
  const taken = new Set<string>()
  const keys = nodes.map(({ id }) => {
    let key = id
    for (let number = 2; taken.has(key); number++) key = `${id} (${number})`
    taken.add(key)
    return key
  })
  known.set(nodes, keys)
  return keys
}

export function nodeOf(graph: Graph, key: string): Graph['nodes'][number] | null {
  return graph.nodes[nodeKeys(graph).indexOf(key)] ?? null
}
