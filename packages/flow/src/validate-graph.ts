import type { Graph, GraphProblem } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import { readContractSide } from './contract.ts'
import { readableFields } from './contract/read-side.ts'
import { edgeProblems, wiringProblems } from './graph/wiring-problems.ts'
import { imageProblems, nodeProblems, productProblems } from './graph/node-problems.ts'
import { layoutOf } from './graph/layout.ts'
import type { ProductFacts } from './node-kind.ts'

export type { ProductFacts } from './node-kind.ts'
export type { ProblemCode } from './problem.ts'

/**
 * Returns all problems of a graph at once (flows §2.7); a graph without problems may be activated. The wiring of a
 * graph with more than 50 nodes or 200 edges is not checked, so that validation takes bounded time.
 * @param products facts about the products that its nodes name; a product that is missing is not assigned
 */
export function validateGraph(graph: Graph, products: ReadonlyMap<string, ProductFacts>): GraphProblem[] {
  const layout = layoutOf(graph)
  const problems = [
    ...(readContractSide(graph.input, 'input contract').problems ?? []),
    ...(readContractSide(graph.output, 'output contract').problems ?? []),
    ...nodeProblems(graph, layout),
    ...productProblems(layout, products),
    ...edgeProblems(graph, layout),
  ]
  if (graph.nodes.length > flowLimits.nodes || graph.edges.length > flowLimits.edges) return problems
  const optional = readableFields(graph.input).filter(({ required }) => !required)
  return [
    ...problems,
    ...wiringProblems(layout, new Set(optional.map(({ name }) => name))),
    ...imageProblems(layout, products),
  ]
}
