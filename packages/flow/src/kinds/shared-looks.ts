import type { GraphNode } from '@gateway/api/graph'
import type { InPort, Look, NodeProblem, PortType } from '../node-kind.ts'

// What the looks of several kinds share.

/** Returns a field that must be a non-empty string, or the problem. */
export function stringField(node: GraphNode, name: string, example: string): string | NodeProblem {
  const value = node[name]
  if (typeof value === 'string' && value !== '') return value
  return {
    code: 'field_invalid',
    message: `The node ${node.id} needs ${name}, a string.`,
    resolution: `Write "${name}": ${JSON.stringify(example)}, for example.`,
  }
}

/** Returns the look of a node that can't be parsed: its problem and its outputs. */
export function unreadable(problem: NodeProblem, outputs: string[]): Look {
  const types = new Map<string, PortType>(outputs.map((port) => [port, 'unknown']))
  return { inputs: new Map(), outputs, problems: [problem], typed: () => ({ outputs: types, problems: [] }) }
}

/** Returns one required input per name used in expressions. */
export function inputsOf(names: readonly string[]): Look['inputs'] {
  return new Map(names.map((name) => [name, { type: 'any', required: true }]))
}

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
