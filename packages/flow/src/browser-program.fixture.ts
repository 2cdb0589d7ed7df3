import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { flowRoutes } from '@gateway/api/flow-routes'
import { gatewayRoutes } from '@gateway/api/gateway-routes'
import type { Values } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { costMicro, picoFromUsd } from '@gateway/pricing/price'
import { layoutOf } from './graph/layout.ts'
import { runInMemory } from './in-memory-run.fixture.ts'
import { packageText } from './package-text.ts'
import { validateGraph, type ProductFacts } from './validate-graph.ts'

// What the console's page does with these packages: reports problems and ports of a graph, runs it in memory, computes
// the cost of a call, and validates a form. Inputs and outputs are strings, because realms share no objects.

/** Flow as sent, in JSON. */
export interface SentFlow {
  graph: Graph
  input: Values
  products: [id: string, ProductFacts][]
}

export function judge(flow: string): string {
  const { graph, input, products } = JSON.parse(flow) as SentFlow
  const known = { graph, input, products: new Map(products) }
  const problems = validateGraph(graph, known.products)
  const ports = layoutOf(graph).placed.map(
    (node) => node && { inputs: [...node.look.inputs], outputs: node.look.outputs, problems: node.look.problems },
  )
  if (problems.length > 0) return JSON.stringify({ problems, ports })
  return JSON.stringify({ ports, text: packageText(graph).text, execution: runInMemory(known, () => 0) })
}

/** Returns the cost of a call in micro-USD, at prices per token in USD. */
export function cost(promptUsd: string, completionUsd: string, promptTokens: number, completionTokens: number): string {
  const [promptPico, completionPico] = [picoFromUsd(promptUsd)!, picoFromUsd(completionUsd)!]
  const price = { promptPico, completionPico, requestPico: 0n }
  return String(costMicro(price, BigInt(promptTokens), BigInt(completionTokens)))
}

/** Returns whether the body of an operation is valid by its route. */
export function takes(operation: string, body: string): boolean {
  const rows: Record<string, ApiRoute> = { ...gatewayRoutes, ...flowRoutes, ...consoleRoutes }
  return rows[operation]!.body!.safeParse(JSON.parse(body)).success
}
