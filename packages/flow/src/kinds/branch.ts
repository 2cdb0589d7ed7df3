import { Budget, CelFailure, celTypeOf, readExpression } from '../cel.ts'
import type { NodeKind, NodeProblem } from '../node-kind.ts'
import { inputsOf, stringField, unreadable } from './shared-looks.ts'

/**
 * Passes its inputs to one of two sides. In: the names used by its condition. Out: `true.<name>` and `false.<name>`;
 * only one side has values.
 */
export const branch: NodeKind = {
  kind: 'branch',
  calls: null,
  fields: ['condition'],
  look(node) {
    const source = stringField(node, 'condition', 'size(text) > 400')
    if (typeof source !== 'string') return unreadable(source, [])
    const read = readExpression(source)
    const invalid = (problem: string): NodeProblem => ({
      code: 'expression_invalid',
      message: `The condition of node ${node.id} ${problem}.`,
      resolution: 'Correct the CEL expression; it has to be true or false.',
    })
    if ('problem' in read) return unreadable(invalid(read.problem), [])
    const { names, typeOf } = read.expression
    const both = (name: string) => [`true.${name}`, `false.${name}`]
    return {
      inputs: inputsOf(names),
      outputs: names.flatMap(both),
      problems: [],
      typed(types) {
        const typed = typeOf(new Map([...types].map(([name, type]) => [name, celTypeOf(type)])))
        const outputs = new Map(
          names.flatMap((name) => both(name).map((port) => [port, types.get(name) ?? 'unknown'] as const)),
        )
        if ('problem' in typed) return { outputs, problems: [invalid(typed.problem)] }
        const decides = typed.type === 'boolean' || typed.type === 'dyn'
        return { outputs, problems: decides ? [] : [invalid(`gives ${typed.type}, where true or false is needed`)] }
      },
    }
  },
  run(node, inputs, _contract, steps) {
    const read = readExpression(node['condition'] as string)
    if ('problem' in read) throw new Error(`the condition of node ${node.id} cannot be read`)
    const side = read.expression.evaluate(inputs, new Budget(steps))
    if (typeof side !== 'boolean') throw new CelFailure('its condition is neither true nor false')
    return Object.fromEntries(read.expression.names.map((name) => [`${side}.${name}`, inputs[name] ?? null]))
  },
}
