import type { GraphNode } from '@gateway/api/graph'
import type { InPort, Look, NodeProblem, PortType } from '../node-kind.ts'
import { stringField } from './own-fields.ts'

/** Returns the look of a node that calls a product: ports of fixed types, and the product ID in `product`. */
export function productLook(
  node: GraphNode,
  inputs: Record<string, InPort>,
  outputs: Record<string, PortType>,
  problems: NodeProblem[] = [],
): Look {
  const product = stringField(node, 'product', 'acme/swift')
  const types = new Map(Object.entries(outputs))
  return {
    inputs: new Map(Object.entries(inputs)),
    outputs: [...types.keys()],
    problems: typeof product === 'string' ? problems : [product, ...problems],
    typed: () => ({ outputs: types, problems: [] }),
  }
}

export const required = (type: 'string'): InPort => ({ type, required: true })
export const optional = (type: 'string'): InPort => ({ type, required: false })
