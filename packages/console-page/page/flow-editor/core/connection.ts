import type { Graph, GraphEdge, GraphProblem } from '@gateway/api/graph'
import { validateGraph } from '@gateway/flow/validate-graph'
import type { CanvasModel, CanvasPort, Products } from './canvas-model.ts'
import { connect } from './node-commands.ts'
import { edgeKey } from './edges.ts'

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

const answers = new WeakMap<Graph, Map<string, string | null>>()

/**
 * Returns the problem that an edge would add to the graph, or null if it can be drawn. The validator decides, so the
 * answer matches the server's.
 */
export function connectionFault(graph: Graph, products: Products, edge: GraphEdge): string | null {
  const known = answers.get(graph) ?? new Map<string, string | null>()
  answers.set(graph, known)
  const key = edgeKey(edge)
  if (!known.has(key)) known.set(key, faultOf(graph, products, edge))
  return known.get(key)!
}

function faultOf(graph: Graph, products: Products, edge: GraphEdge): string | null {
  const drawn = connect(graph, edge)
  if (drawn === graph) return 'These ports are already connected.'
  const before = new Set(validateGraph(graph, products).map(said))
  const problem = validateGraph(drawn, products).find((each) => !before.has(said(each)))
  return problem ? `${problem.message} ${problem.resolution}` : null
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
