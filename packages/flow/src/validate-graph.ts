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
 * All that is wrong with a graph, at once (flows §2.7); none for one that may be activated. Of a graph beyond 50 nodes
 * or 200 edges it is not told how its nodes are joined, so that the time this takes is bounded.
 * @param products what is known of the products that its nodes name; one that is not in it is not assigned
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
