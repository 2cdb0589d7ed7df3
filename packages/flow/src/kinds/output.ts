import type { Values } from '@gateway/api/execution'
import type { ContractSide } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import { Refusal, refuse } from '@gateway/api/refusal'
import { utf8Bytes } from '@gateway/api/text-bytes'
import { compileContract, type FieldFault, IS_REQUIRED } from '../contract.ts'
import { portFit } from '../json-text.ts'
import type { NodeKind } from '../node-kind.ts'

/** Output of the execution, one port per field of the contract. Runs once each wired port has a value or never will. */
export const output: NodeKind = {
  kind: 'output',
  calls: null,
  fields: [],
  look: (_, contract) => ({
    inputs: new Map(contract.output.map(({ name, type, required }) => [name, { type, required }])),
    outputs: [],
    problems: [],
    typed: () => ({ outputs: new Map(), problems: [] }),
  }),
  run(node, inputs, contract) {
    if (!contract) throw new Error(`the output node ${node.id} is run without the contract's side`)
    const values = fitting(node.id, inputs, contract)
    const { outputBytes: limitBytes } = flowLimits
    if (utf8Bytes(JSON.stringify(values)) > limitBytes) throw refuse('output_too_large', { limitBytes })
    return values
  },
}

/** Omits optional fields without a value. */
function fitting(id: string, inputs: Values, contract: ContractSide): Values {
  const checked = compileContract(contract).check(inputs)
  if (checked.ok) return Object.fromEntries(Object.entries(checked.values).filter(([, value]) => value !== null))
  const missing = checked.fields.filter(({ message }) => message === IS_REQUIRED).map(({ field }) => field)
  if (missing.length > 0) throw refuse('output_missing', { fields: missing })
  const large = checked.fields.find(({ field }) => {
    const json = portFit(inputs[field])
    return !json.ok && json.why === 'too-large'
  })
  if (large) throw refuse('value_too_large', { node: id, port: large.field, limitBytes: flowLimits.portBytes })
  throw unfit(checked.fields)
}

/** For example, a model's text that is not an option of a select. */
function unfit(fields: FieldFault[]): Refusal {
  const reasons = fields.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new Refusal(
    'node_failed',
    `The output does not fit the contract: ${reasons}.`,
    'Have the model keep to the contract, convert its text with an expression, or widen the contract.',
    { param: fields[0]!.field, details: { fields } },
  )
}

/** Input of the caller, one port per field of the contract. Runs nothing: it ends when the execution is admitted. */
export const input: NodeKind = {
  kind: 'input',
  calls: null,
  fields: [],
  look: (_, contract) => ({
    inputs: new Map(),
    outputs: contract.input.map(({ name }) => name),
    problems: [],
    typed: () => ({ outputs: new Map(contract.input.map(({ name, type }) => [name, type])), problems: [] }),
  }),
}
