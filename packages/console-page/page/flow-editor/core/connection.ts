import type { Graph, GraphEdge, GraphProblem } from '@gateway/api/graph'
import { validateGraph } from '@gateway/flow/validate-graph'
import { nodeKind } from '@gateway/flow/node-kinds'
import { connect, addNode, disconnect, startingFields } from './node-commands.ts'
import { edgeKey } from './edges.ts'
import type { Addable } from '../canvas/addable-row.tsx'
import { canvasModel, type Products, type CanvasModel, type CanvasPort } from './canvas-model.ts'
import type { Position } from './position.ts'

/** A port to connect to, or why that is not possible. */
export interface Target {
  edge: GraphEdge
  /** Key from `nodeKeys`. */
  key: string
  port: CanvasPort
  /** null if the edge can be drawn. */
  reason: string | null
}

export interface PortRef {
  key: string
  port: string
  side: 'input' | 'output'
}

/** The graph with an edge, or why it can't be drawn. */
type Drawn = { graph: Graph } | { fault: string }

const answers = new WeakMap<Graph, Map<string, Drawn>>()

/**
 * Draws an edge. An input that takes one value gives up the edge that it had. Returns the same graph if the edge can't
 * be drawn.
 */
export function drawEdge(graph: Graph, products: Products, edge: GraphEdge): Graph {
  const drawn = known(graph, products, edge)
  return 'graph' in drawn ? drawn.graph : graph
}

/** Returns why an edge can't be drawn, or null. The validator decides, so the answer matches the server's. */
export function connectionFault(graph: Graph, products: Products, edge: GraphEdge): string | null {
  const drawn = known(graph, products, edge)
  return 'fault' in drawn ? drawn.fault : null
}

function known(graph: Graph, products: Products, edge: GraphEdge): Drawn {
  const ofGraph = answers.get(graph) ?? new Map<string, Drawn>()
  answers.set(graph, ofGraph)
  const key = edgeKey(edge)
  if (!ofGraph.has(key)) ofGraph.set(key, draw(graph, products, edge))
  return ofGraph.get(key)!
}

function draw(graph: Graph, products: Products, edge: GraphEdge): Drawn {
  const added = connect(graph, edge)
  if (added === graph) return { fault: 'These ports are already connected.' }
  const problem = newProblem(graph, added, products)
  if (!problem) return { graph: added }
  const others = graph.edges.filter(({ to }) => to !== edge.to)
  const replaced = connect({ ...graph, edges: others }, edge)
  if (others.length < graph.edges.length && !newProblem(graph, replaced, products)) return { graph: replaced }
  return { fault: `${problem.message} ${problem.resolution}` }
}

const problemsBefore = new WeakMap<Graph, ReadonlySet<string>>()

function newProblem(before: Graph, after: Graph, products: Products): GraphProblem | undefined {
  const had = problemsBefore.get(before) ?? new Set(validateGraph(before, products).map(said))
  problemsBefore.set(before, had)
  return validateGraph(after, products).find((each) => !had.has(said(each)))
}

const said = ({ code, node, port, message }: GraphProblem) => JSON.stringify([code, node, port, message])

/** All opposite ports of the other nodes, those that the port can connect to first. */
export function targetsOf({ graph, nodes }: CanvasModel, products: Products, from: PortRef): Target[] {
  const [own] = nodes.filter(({ key }) => key === from.key)
  if (!own) return []
  const here = `${own.node.id}.${from.port}`
  const targets = nodes.flatMap(({ key, node, inputs, outputs }) => {
    if (key === from.key || key !== node.id) return []
    const ports = (from.side === 'output' ? inputs : outputs).filter(({ isMissing }) => !isMissing)
    return ports.map((port): Target => {
      const there = `${node.id}.${port.name}`
      const edge = from.side === 'output' ? { from: here, to: there } : { from: there, to: here }
      return { edge, key, port, reason: connectionFault(graph, products, edge) }
    })
  })
  return [...targets.filter(({ reason }) => reason === null), ...targets.filter(({ reason }) => reason !== null)]
}

/** What a node is added to: a port, an edge that it is inserted into, or the node it comes after. */
export type Joint = { port: PortRef } | { edge: GraphEdge } | { after: string }

/** Adds a node and joins it, if possible, in one history step. Returns the key of the node. */
export function insertNode(
  graph: Graph,
  products: Products,
  { kind, fields }: Pick<Addable, 'kind' | 'fields'>,
  position: Position,
  joint: Joint | null = null,
): { graph: Graph; id: string; isJoined: boolean } {
  const added = addNode(graph, { kind, fields, position })
  const joined = joint && joinedTo(added.graph, products, added.id, joint)
  return { id: added.id, graph: joined ?? added.graph, isJoined: joined !== null }
}

function joinedTo(graph: Graph, products: Products, key: string, joint: Joint): Graph | null {
  if ('edge' in joint) return insertedInto(graph, products, joint.edge, key)
  const { nodes } = canvasModel(graph, products)
  const own = nodes.find((node) => node.key === key)!
  const before = 'after' in joint ? nodes.find((node) => node.key === joint.after) : undefined
  const from = 'port' in joint ? [joint.port] : (before?.outputs ?? []).map(outputOf(before?.key ?? ''))
  for (const port of from) {
    const other = nodes.find((node) => node.key === port.key)
    if (!other) continue
    const here = `${other.node.id}.${port.port}`
    for (const { name } of port.side === 'output' ? own.inputs : own.outputs) {
      const there = `${own.node.id}.${name}`
      const edge = port.side === 'output' ? { from: here, to: there } : { from: there, to: here }
      const drawn = drawEdge(graph, products, edge)
      if (drawn !== graph) return drawn
    }
  }
  return null
}

const outputOf =
  (key: string) =>
  ({ name }: CanvasPort): PortRef => ({ key, port: name, side: 'output' })

/**
 * Puts an unwired node into an edge: its source leads to the node, and the node to its target. Returns null if the node
 * has no ports for that or the graph would get a new problem. A branch leads to the target with both of its sides.
 */
export function insertedInto(graph: Graph, products: Products, edge: GraphEdge, key: string): Graph | null {
  const own = canvasModel(graph, products).nodes.find((node) => node.key === key)
  if (!own || key !== own.node.id || [...own.inputs, ...own.outputs].some(({ isWired }) => isWired)) return null
  const open = disconnect(graph, new Set([edgeKey(edge)]))
  const ends = own.outputs.map(({ name }) => ({ from: `${key}.${name}`, to: edge.to }))
  for (const { name } of own.inputs.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))) {
    const entered = connect(open, { from: edge.from, to: `${key}.${name}` })
    for (const leaving of [ends, ...ends.map((end) => [end])]) {
      const inserted = leaving.reduce(connect, entered)
      if (leaving.length > 0 && !newProblem(graph, inserted, products)) return inserted
    }
  }
  return null
}

/** Leads an end of an edge to another port. Returns the same graph if the edge can't be drawn there. */
export function reconnect(graph: Graph, products: Products, old: GraphEdge, edge: GraphEdge): Graph {
  if (edgeKey(old) === edgeKey(edge)) return graph
  const open = disconnect(graph, new Set([edgeKey(old)]))
  const drawn = drawEdge(open, products, edge)
  return drawn === open ? graph : drawn
}

/**
 * Whether a new node has a port for a value of this type. The validator decides when the node is added; this only
 * shortens the list that is offered.
 */
export function fits(
  { kind, fields }: Pick<Addable, 'kind' | 'fields'>,
  type: CanvasPort['type'],
  side: PortRef['side'],
): boolean {
  const look = nodeKind(kind)?.look({ id: 'node', kind, ...startingFields(kind), ...fields }, { input: [], output: [] })
  if (!look) return false
  const isOpen = (other: string) => ['any', 'unknown', type].includes(other) || ['any', 'unknown'].includes(type)
  if (side === 'output') return kind === 'output' || [...look.inputs.values()].some((port) => isOpen(port.type))
  const { outputs } = look.typed(new Map())
  return kind === 'input' || look.outputs.some((name) => isOpen(outputs.get(name) ?? 'unknown'))
}
