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

// What a page of the console does with these packages: it says what is wrong with a graph, which ports its nodes have, what it would
// do, what a call would cost, and whether a form is filled in well. Texts come in and go out, because realms share no objects.

/** A flow as it comes in. */
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

/** Micro-USD of a call at these prices of a token, in USD. */
export function cost(promptUsd: string, completionUsd: string, promptTokens: number, completionTokens: number): string {
  const [promptPico, completionPico] = [picoFromUsd(promptUsd)!, picoFromUsd(completionUsd)!]
  const price = { promptPico, completionPico, requestPico: 0n }
  return String(costMicro(price, BigInt(promptTokens), BigInt(completionTokens)))
}

/** Whether the body of an operation is one, as its row says. */
export function takes(operation: string, body: string): boolean {
  const rows: Record<string, ApiRoute> = { ...gatewayRoutes, ...flowRoutes, ...consoleRoutes }
  return rows[operation]!.body!.safeParse(JSON.parse(body)).success
}
