import type { GraphNode } from '@gateway/api/graph'
import { Budget, CelFailure, celTypeOf, readExpression, type CelType } from '../cel.ts'
import { said } from '../cel/check.ts'
import { typeOfValue } from '../cel/values.ts'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { portFit } from '../json-text.ts'
import type { NodeKind, NodeProblem, PortType } from '../node-kind.ts'
import { inputsOf, stringField, unreadable } from './shared-looks.ts'

/** Result types of an expression. A list must be wrapped in an object, as in `{"items": list}`. */
const expressionTypes = ['string', 'number', 'boolean', 'object'] as const

/**
 * CEL expression. In: the names it uses. Out: `value`. `type` declares its type if that is known only at run time; if
 * omitted, it is the type of the ports that `value` is wired to.
 */
export const expression: NodeKind = {
  kind: 'expression',
  calls: null,
  fields: ['expression', 'type'],
  look(node) {
    const source = stringField(node, 'expression', 'size(text) * 2')
    if (typeof source !== 'string') return unreadable(source, ['value'])
    const read = readExpression(source)
    const invalid = (problem: string): NodeProblem => ({
      code: 'expression_invalid',
      message: `The expression of node ${node.id} ${problem}.`,
      resolution: 'Correct the CEL expression.',
    })
    if ('problem' in read) return unreadable(invalid(read.problem), ['value'])
    const declaredType = declared(node)
    return {
      inputs: inputsOf(read.expression.names),
      outputs: ['value'],
      problems: declaredType === 'wrong' ? [wrongType(node)] : [],
      typed(types) {
        const typed = read.expression.typeOf(new Map([...types].map(([name, type]) => [name, celTypeOf(type)])))
        const type = 'type' in typed ? typed.type : 'dyn'
        const problem = 'problem' in typed ? typed.problem : unfitting(type, declaredType)
        const known = declaredType !== null && declaredType !== 'wrong' ? declaredType : portTypeOf(type)
        return { outputs: new Map([['value', known]]), problems: problem === null ? [] : [invalid(problem)] }
      },
    }
  },
  run(node, inputs, _contract, steps) {
    const read = readExpression(node['expression'] as string)
    if ('problem' in read) throw new Error(`the expression of node ${node.id} cannot be read`)
    const value = read.expression.evaluate(inputs, new Budget(steps))
    const type = typeOfValue(value)
    const wanted = declared(node)
    if (type === 'list' || type === 'null') throw new CelFailure(`its value is ${said(type)}, which no port takes`)
    if (wanted !== null && type !== wanted)
      throw new CelFailure(`its value is of the type ${type}, where ${wanted} is needed`)
    const json = portFit(value)
    if (json.ok) return { value }
    if (json.why === 'too-deep') throw new CelFailure('its value is nested too deeply')
    throw refuse('value_too_large', { node: node.id, port: 'value', limitBytes: flowLimits.portBytes })
  },
}

function declared(node: GraphNode): (typeof expressionTypes)[number] | 'wrong' | null {
  if (node['type'] === undefined) return null
  return expressionTypes.find((type) => type === node['type']) ?? 'wrong'
}

function wrongType(node: GraphNode): NodeProblem {
  return {
    code: 'field_invalid',
    message: `The type of node ${node.id} is none that an expression gives.`,
    resolution: `Write one of ${expressionTypes.join(', ')}, or leave type out.`,
  }
}

function unfitting(type: CelType, declaredType: string | null): string | null {
  if (type === 'list' || type === 'null') return `gives ${type}, which is not a type of a port`
  if (declaredType === null || declaredType === 'wrong' || type === 'dyn' || type === declaredType) return null
  return `gives ${type}, and its type says ${declaredType}`
}

function portTypeOf(type: CelType): PortType {
  return type === 'dyn' || type === 'list' || type === 'null' ? 'unknown' : type
}
