import type { Graph, GraphEdge, GraphNode, GraphProblem } from '@gateway/api/graph'
import { endOf, layoutOf, type Layout, type Placed } from '@gateway/flow/layout'
import type { NodeKind, PortType, ProductFacts } from '@gateway/flow/node-kinds'
import { typingOf } from '@gateway/flow/typing'
import { validateGraph } from '@gateway/flow/validate-graph'
import { graphWarnings } from '@gateway/flow/warnings'
import { edgeKey } from './edges.ts'
import { nodeKeys } from './node-commands.ts'
import { positionOf, type Position } from './position.ts'

export interface CanvasNode {
  /** Key from `nodeKeys`. */
  key: string
  node: GraphNode
  /** null if the kind does not exist. */
  kind: NodeKind | null
  position: Position | null
  inputs: CanvasPort[]
  outputs: CanvasPort[]
  problems: GraphProblem[]
}

export interface CanvasPort {
  name: string
  /** `any` accepts any value; a connected port has the type of its value. */
  type: PortType | 'any'
  isRequired: boolean
  isWired: boolean
  /** An edge refers to the port, but the node does not have it. */
  isMissing: boolean
  problems: GraphProblem[]
}

/** Edge between existing nodes, which can therefore be drawn. */
export interface CanvasEdge {
  key: string
  edge: GraphEdge
  from: { key: string; port: string }
  to: { key: string; port: string }
  type: PortType
  hasProblem: boolean
}

export interface CanvasModel {
  graph: Graph
  nodes: CanvasNode[]
  edges: CanvasEdge[]
  /** All problems of the graph, exactly as the server reports them. */
  problems: GraphProblem[]
  /** What is allowed and rarely meant. */
  warnings: GraphProblem[]
}

export type Products = ReadonlyMap<string, ProductFacts>

/** Everything the canvas shows of a graph, computed with the validator of the server. */
export function canvasModel(graph: Graph, products: Products): CanvasModel {
  const layout = layoutOf(graph)
  const problems = validateGraph(graph, products)
  const keys = nodeKeys(graph)
  const byNode = Map.groupBy(problems, ({ node }) => node)
  const drawn = drawnEdges(graph, layout, byNode)
  return {
    graph,
    problems,
    warnings: graphWarnings(graph),
    edges: drawn,
    nodes: graph.nodes.map((node, ordinal) => {
      const key = keys[ordinal]!
      const own = byNode.get(node.id) ?? []
      const placed = layout.placed[ordinal] ?? null
      return {
        key,
        node,
        kind: placed?.kind ?? null,
        position: positionOf(node),
        inputs: inputPorts(
          placed,
          drawn.filter(({ to }) => to.key === key),
          own,
        ),
        outputs: outputPorts(
          layout,
          placed,
          drawn.filter(({ from }) => from.key === key),
          own,
        ),
        problems: own,
      }
    }),
  }
}

/** Every edge once. An edge to a port that no longer exists is drawn until it is removed. */
function drawnEdges(graph: Graph, layout: Layout, problems: ReadonlyMap<string | null, GraphProblem[]>): CanvasEdge[] {
  const ids = new Set(graph.nodes.map(({ id }) => id))
  const typing = typingOf(layout)
  const types = new Map(
    layout.wires.map((wire) => [
      edgeKey({ from: `${wire.from.id}.${wire.port}`, to: `${wire.to.id}.${wire.toPort}` }),
      typing.typeOf(wire),
    ]),
  )
  const edges = new Map(graph.edges.map((edge) => [edgeKey(edge), edge]))
  return [...edges].flatMap(([key, edge]) => {
    const [from, to] = [endOf(edge.from), endOf(edge.to)]
    if (!ids.has(from.node) || !ids.has(to.node)) return []
    const type = types.get(key)
    const atPort = (problems.get(to.node) ?? []).some(({ port, code }) => port === to.port && code !== 'wiring_missing')
    return {
      key,
      edge,
      from: { key: from.node, port: from.port },
      to: { key: to.node, port: to.port },
      type: type ?? 'unknown',
      hasProblem: type === undefined || atPort,
    }
  })
}

function inputPorts(placed: Placed | null, edges: readonly CanvasEdge[], problems: GraphProblem[]): CanvasPort[] {
  const known = new Map(placed?.look.inputs)
  const arriving = Map.groupBy(edges, ({ to }) => to.port)
  const names = new Set([...known.keys(), ...arriving.keys()])
  return [...names].map((name) => {
    const port = known.get(name)
    const [first] = arriving.get(name) ?? []
    return {
      name,
      type: port?.type === 'any' && first ? first.type : (port?.type ?? 'unknown'),
      isRequired: port?.required ?? false,
      isWired: first !== undefined,
      isMissing: port === undefined,
      problems: problems.filter((problem) => problem.port === name),
    }
  })
}

/** Output ports. A problem is attributed to an input port of the same name, if there is one. */
function outputPorts(
  layout: Layout,
  placed: Placed | null,
  edges: readonly CanvasEdge[],
  problems: GraphProblem[],
): CanvasPort[] {
  const known = new Set(placed?.look.outputs)
  const names = new Set([...known, ...edges.map(({ from }) => from.port)])
  const { typeOf } = typingOf(layout)
  return [...names].map((name) => ({
    name,
    type: placed ? typeOf({ from: placed, port: name, to: placed, toPort: '' }) : 'unknown',
    isRequired: placed?.look.mustLead?.includes(name) ?? false,
    isWired: edges.some(({ from }) => from.port === name),
    isMissing: !known.has(name),
    problems: placed?.look.inputs.has(name) ? [] : problems.filter((problem) => problem.port === name),
  }))
}
