import type { Graph, GraphEdge, GraphProblem } from '@gateway/api/graph'
import { validateGraph } from '@gateway/flow/validate-graph'
import { connect, addNode } from './node-commands.ts'
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
  const before = new Set(validateGraph(graph, products).map(said))
  const newProblem = (drawn: Graph) => validateGraph(drawn, products).find((each) => !before.has(said(each)))
  const problem = newProblem(added)
  if (!problem) return { graph: added }
  const others = graph.edges.filter(({ to }) => to !== edge.to)
  const replaced = connect({ ...graph, edges: others }, edge)
  if (others.length < graph.edges.length && !newProblem(replaced)) return { graph: replaced }
  return { fault: `${problem.message} ${problem.resolution}` }
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
