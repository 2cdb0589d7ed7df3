import type { ProductRecord } from '@gateway/api/console/products'
import type { Graph } from '@gateway/api/graph'
import { edgeKey } from './edges.ts'
import { newGraph } from './new-graph.ts'
import { addNode, connect, disconnect } from './node-commands.ts'

/** Graph of a new flow: its input goes to a chat product of the project, and the response is its output. */
export function startingGraph(products: readonly ProductRecord[]): Graph {
  const chat = products.find(({ kind }) => kind === 'chat')
  if (!chat) return newGraph
  const { graph, id } = addNode(disconnect(newGraph, new Set(newGraph.edges.map(edgeKey))), {
    kind: 'product.chat',
    position: { x: 320, y: 0 },
    fields: { product: chat.id },
  })
  return connect(connect(graph, { from: 'in.text', to: `${id}.prompt` }), { from: `${id}.text`, to: 'out.text' })
}
