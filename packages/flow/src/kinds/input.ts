import type { NodeKind } from '../node-kind.ts'

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
