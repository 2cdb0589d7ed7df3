/** Operand: a flow of the project. */
export const flowOperand = {
  name: 'flow',
  summary: 'its name here, the name of the product, or its id',
  offered: 'flows',
} as const
/** Option: the cost ceiling of an execution. */
export const atMost = {
  type: 'string',
  value: 'amount',
  summary: 'What it may be charged at most, in US dollars',
} as const
