import { graph as graphShape, type Graph, type GraphProblem } from '@gateway/api/graph'
import { validateGraph } from '@gateway/flow/validate-graph'
import { graphWarnings } from '@gateway/flow/warnings'
import { readJson, type Path, type Position } from './json-positions.ts'

export interface FlowProblem extends Pick<GraphProblem, 'code' | 'message' | 'resolution'>, Position {}

export interface CheckedFlow {
  /** Null if the text is not a graph at all. */
  graph: Graph | null
  problems: FlowProblem[]
  /** What is allowed and rarely meant. */
  warnings: FlowProblem[]
  /** Position of the part that a problem from the service is about. */
  positionOf(problem: GraphProblem): Position
}

/**
 * Finds all problems in the file of a flow with their positions, without the service. The products of a project are not
 * known here, so problems that depend on them are only found when the flow is pushed.
 */
export function checkFlow(text: string): CheckedFlow {
  const read = readJson(text)
  if ('fault' in read) {
    const broken = { code: 'invalid_json', message: read.fault, resolution: 'Write valid JSON.', ...read.position }
    return { graph: null, problems: [broken], warnings: [], positionOf: () => read.position }
  }
  const parsed = graphShape.safeParse(read.value)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      code: 'invalid_request',
      message: `${issue.path.join('.') || 'The file'}: ${issue.message}.`,
      resolution: 'A flow has input, output, nodes and edges, as docs/flows.md says.',
      ...read.at(issue.path as Path),
    }))
    return { graph: null, problems, warnings: [], positionOf: () => read.at([]) }
  }
  const graph = parsed.data
  const positionOf = (problem: GraphProblem) => read.at(pathOf(graph, problem))
  const placed = (problem: GraphProblem): FlowProblem => {
    const { code, message, resolution } = problem
    return { code, message, resolution, ...positionOf(problem) }
  }
  const problems = validateGraph(graph, new Map()).filter(({ code }) => code !== 'product_not_assigned')
  return { graph, problems: problems.map(placed), warnings: graphWarnings(graph).map(placed), positionOf }
}

function pathOf({ nodes, edges }: Graph, { code, node, port, message }: GraphProblem): Path {
  const side = /^.{0,20}(input|output) contract/i.exec(message)?.[1]
  if (node === null && side !== undefined) return [side, 'properties', ...(port === null ? [] : [port])]
  const isNamed = ({ from, to }: Graph['edges'][number]) =>
    message.includes(`from ${from} to ${to}`) || (port !== null && [from, to].includes(`${node}.${port}`))
  const edge = edges.findLastIndex(isNamed)
  if (edge >= 0) return ['edges', edge]
  const at =
    code === 'node_id_duplicate'
      ? nodes.findLastIndex(({ id }) => id === node)
      : nodes.findIndex(({ id }) => id === node)
  if (at < 0) return node === null ? ['nodes'] : []
  const field = fieldOf[code]
  return ['nodes', at, ...(field === undefined ? [] : field)]
}

/** The node field that a problem is about. */
const fieldOf: Readonly<Record<string, Path>> = {
  node_id_invalid: ['id'],
  node_id_duplicate: ['id'],
  kind_unknown: ['kind'],
  expression_invalid: ['expression'],
  template_invalid: ['template'],
  params_invalid: ['params'],
  param_unsupported: ['params'],
  product_not_assigned: ['product'],
  product_kind: ['product'],
}
