import { flowLimits } from '@gateway/api/limits'
import { portFit } from '../json-text.ts'
import type { NodeKind, NodeProblem, PortType } from '../node-kind.ts'

/** Constant value. Out: `value`. */
export const constant: NodeKind = {
  kind: 'constant',
  calls: null,
  fields: ['value'],
  look(node) {
    const value: unknown = node['value']
    const type = typeOf(value)
    return {
      inputs: new Map(),
      outputs: ['value'],
      problems: problemsOf(node.id, value, type),
      typed: () => ({ outputs: new Map([['value', type]]), problems: [] }),
    }
  },
  run: (node) => ({ value: node['value'] }),
}

function typeOf(value: unknown): PortType {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as 'string' | 'boolean'
  if (typeof value === 'number' && Number.isFinite(value)) return 'number'
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'object' : 'unknown'
}

function problemsOf(id: string, value: unknown, type: PortType): NodeProblem[] {
  if (type === 'unknown')
    return [
      {
        code: 'field_invalid',
        message: `The node ${id} needs value, a string, number, boolean or object.`,
        resolution: 'Write such a value; a list goes into an object.',
      },
    ]
  const json = portFit(value)
  if (json.ok) return []
  return [
    {
      code: 'value_too_large',
      port: 'value',
      message:
        json.why === 'too-large'
          ? `The value of node ${id} is larger than ${flowLimits.portBytes} bytes.`
          : `The value of node ${id} is nested too deeply.`,
      resolution: 'Write a smaller value.',
    },
  ]
}
