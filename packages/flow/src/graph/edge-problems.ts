import type { Graph, GraphEdge, GraphProblem } from '@gateway/contracts/graph'
import { problem } from '../problem.ts'
import { endOf, idsOf, type Layout, type Placed } from './layout.ts'

/** What is wrong with edges by themselves: how they are written, and whether there are such nodes and ports. */
export function edgeProblems(graph: Graph, { placed }: Layout): GraphProblem[] {
  const byId = idsOf(placed)
  const unknownKinds = new Set(graph.nodes.filter((_, ordinal) => placed[ordinal] === null).map(({ id }) => id))
  const seen = new Set<string>()
  return graph.edges.flatMap((edge) => {
    const written = `from ${edge.from.slice(0, 140)} to ${edge.to.slice(0, 140)}`
    const said = `${edge.from} ${edge.to}`
    if (seen.has(said))
      return problem('edge_duplicate', {}, `The edge ${written} is there twice.`, 'Leave the second one out.')
    seen.add(said)
    return (['from', 'to'] as const).flatMap((side) => endProblem(edge, side, written, byId, unknownKinds) ?? [])
  })
}

function endProblem(
  edge: GraphEdge,
  side: 'from' | 'to',
  written: string,
  byId: Map<string, Placed>,
  unknownKinds: Set<string>,
): GraphProblem | null {
  const { node, port } = endOf(edge[side])
  if (node === '' || port === '')
    return problem(
      'edge_invalid',
      {},
      `The edge ${written} does not say which port.`,
      'Write both ends as node.port, and those of a branch as node.true.port or node.false.port.',
    )
  const at = { node: node.slice(0, 64), port: port.slice(0, 128) }
  const known = byId.get(node)
  if (!known) {
    // Its kind is told already.
    if (unknownKinds.has(node)) return null
    return problem(
      'node_unknown',
      at,
      `The edge ${written} names a node that does not exist.`,
      'Name a node of the flow.',
    )
  }
  const ports = side === 'from' ? known.look.outputs : [...known.look.inputs.keys()]
  // Of a node that can't be read its ports are not known; what is wrong with it is told already.
  if (ports.includes(port) || (known.look.problems.length > 0 && ports.length === 0)) return null
  const what = side === 'from' ? 'output' : 'input'
  return problem(
    'port_unknown',
    at,
    `The node ${at.node} has no ${what} port ${at.port}, which the edge ${written} names.`,
    ports.length > 0 ? `Use one of ${ports.join(', ').slice(0, 1000)}.` : `This node has no ${what} ports.`,
  )
}
