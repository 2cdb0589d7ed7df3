import type { Values } from '@gateway/api/execution'
import type { ValueType } from '@gateway/api/graph'
import { typeOfTree } from './cel/check.ts'
import { evaluateTree, type Names } from './cel/evaluate.ts'
import { CelProblem, readTree } from './cel/read.ts'
import { Budget, type CelType, type CelValue } from './cel/values.ts'
import { rememberedByText } from './remembered.ts'

// Expressions of flows: CEL with all numbers as doubles, over plain JSON (flows §2.4). Invariants:
//   C1  No source code is executed: it is parsed to a tree, and the tree is walked. Nothing of JavaScript can be named.
//   C2  Only own properties are read. `__proto__` and `constructor` are ordinary names, or absent.
//   C3  A source has at most 2 KB, 200 nodes and depth 16, no regular expression, and no macro within a macro's body.
//   C4  An evaluation takes at most `celSteps` steps. A step is a node visited, an element touched, or 16 characters
//       read or written; slower work costs more, and steps are spent before the work is done. So the time of an
//       evaluation, or of all holes of a template together, is bounded by construction for any values: at most about
//       100 ns per step, 50 ms in total.
//   C5  The other side of && or || can absorb a failure, as in CEL, but never an exhausted budget.

export { celLimits } from './cel/read.ts'
export { Budget, CelExhausted, CelFailure } from './cel/values.ts'
export type { CelType, CelValue } from './cel/values.ts'

/** Step budget of all expressions of one node per execution. */
export const celSteps = 500_000

export interface Expression {
  source: string
  /** Names of the values it uses, each once, in order of first use. */
  names: string[]
  /** Returns the type of its value for these types of names, or why they don't fit. */
  typeOf(types: ReadonlyMap<string, CelType>): { type: CelType } | { problem: string }
  /**
   * Returns its value: plain JSON, not copied, so it may contain one part of the input many times. Names without a
   * value are null.
   * @throws CelFailure whose message says why it has no value; CelExhausted, a subclass, if the budget is exceeded
   */
  evaluate(values: Values, budget: Budget): CelValue
}

/** Parses an expression. The text of a problem follows "The expression ". */
export const readExpression = rememberedByText((source): { expression: Expression } | { problem: string } =>
  guarded(() => {
    const { tree, names } = readTree(source)
    const typeOf: Expression['typeOf'] = (types) => guarded(() => ({ type: typeOfTree(tree, types) }))
    const evaluate: Expression['evaluate'] = (values, budget) => evaluateTree(tree, values as Names, budget)
    return { expression: { source, names, typeOf, evaluate } }
  }),
)

function guarded<T>(work: () => T): T | { problem: string } {
  try {
    return work()
  } catch (error) {
    if (error instanceof CelProblem) return { problem: error.message }
    throw error
  }
}

/** Returns the CEL type of a port's value. */
export function celTypeOf(type: ValueType | 'unknown'): CelType {
  if (type === 'unknown') return 'dyn'
  return type === 'image' || type === 'audio' ? 'object' : type
}
