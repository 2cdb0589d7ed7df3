/** Operand: a flow of the project. */
export const flowOperand = {
  name: 'flow',
  summary: 'the name of its file, the name of the product, or its id',
  offered: 'flows',
} as const
/** Option: the cost ceiling of an execution. */
export const atMost = {
  type: 'string',
  value: 'amount',
  summary: 'Max cost, in US dollars',
} as const
