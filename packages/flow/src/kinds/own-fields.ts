import type { GraphNode } from '@gateway/api/graph'
import type { Look, NodeProblem, PortType } from '../node-kind.ts'

/** A field of a node that has to be a string that is not empty. */
export function stringField(node: GraphNode, name: string, example: string): string | NodeProblem {
  const value = node[name]
  if (typeof value === 'string' && value !== '') return value
  return {
    code: 'field_invalid',
    message: `The node ${node.id} needs ${name}, a string.`,
    resolution: `Write "${name}": ${JSON.stringify(example)}, for example.`,
  }
}

/** A node of which nothing can be reported but what is wrong. */
export function unreadable(problem: NodeProblem, outputs: string[]): Look {
  const types = new Map<string, PortType>(outputs.map((port) => [port, 'unknown']))
  return { inputs: new Map(), outputs, problems: [problem], typed: () => ({ outputs: types, problems: [] }) }
}

/** The inputs of a node that takes a value for each name that its expressions use. */
export function inputsOf(names: readonly string[]): Look['inputs'] {
  return new Map(names.map((name) => [name, { type: 'any', required: true }]))
}
