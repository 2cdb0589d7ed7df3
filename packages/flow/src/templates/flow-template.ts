import type { ContractSide, Graph, GraphNode } from '@gateway/api/graph'
import type { CalledKind } from '../node-kind.ts'

/** Product that a template needs. */
export interface TemplateSlot {
  /** What it does in the flow, such as `Writer`. */
  title: string
  kind: CalledKind
  /** What else it must be capable of. */
  needs?: 'json' | 'images'
}

/** Flow to start from. */
export interface FlowTemplate {
  id: string
  title: string
  /** What it does, in one sentence. */
  summary: string
  slots: Readonly<Record<string, TemplateSlot>>
  /** A node names a slot in place of its product. */
  graph: Graph
}

/** Returns the graph of a template with a product for each slot. */
export function fillTemplate({ graph }: FlowTemplate, products: Readonly<Record<string, string>>): Graph {
  const filled = (node: GraphNode) =>
    node['product'] === undefined ? node : { ...node, product: products[node['product'] as string] }
  return { ...graph, nodes: graph.nodes.map(filled) }
}

// The parts that the graphs of templates are written with.

export const text = (title: string) => ({ type: 'string', title })
export const image = (title: string) => ({ type: 'object', format: 'image', title })
export const audio = (title: string) => ({ type: 'object', format: 'audio', title })

/** Side of a contract, all of whose fields are required except the optional ones. */
export const side = (properties: ContractSide['properties'], optional: string[] = []): ContractSide => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

/** Template node. */
export const prompt = (id: string, template: string): GraphNode => ({ id, kind: 'template', template })
/** Expression node whose value is a string. */
export const textOf = (id: string, expression: string): GraphNode => ({
  id,
  kind: 'expression',
  expression,
  type: 'string',
})
export const chat = (id: string, slot: string, maxTokens: number): GraphNode => ({
  id,
  kind: 'product.chat',
  product: slot,
  params: { max_tokens: maxTokens },
})
/** Chat node that responds with an object of these fields. */
export const jsonChat = (
  id: string,
  slot: string,
  maxTokens: number,
  properties: Record<string, object>,
): GraphNode => {
  const schema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  const format = { type: 'json_schema', json_schema: { name: id, strict: true, schema } }
  return { id, kind: 'product.chat', product: slot, params: { max_tokens: maxTokens, response_format: format } }
}

/** @param edges each written `from > to` */
export function flow(input: ContractSide, output: ContractSide, nodes: GraphNode[], edges: string[]): Graph {
  return {
    input,
    output,
    nodes: [{ id: 'in', kind: 'input' }, ...nodes, { id: 'out', kind: 'output' }],
    edges: edges.map((edge) => {
      const [from, to] = edge.split(' > ') as [string, string]
      return { from, to }
    }),
  }
}
