import type { Values } from '@gateway/api/execution'
import type { ValueType } from '@gateway/api/graph'
import { typeOfTree } from './cel/check.ts'
import { evaluateTree, type Names } from './cel/evaluate.ts'
import { CelProblem, readTree } from './cel/read.ts'
import { Budget, type CelType, type CelValue } from './cel/values.ts'
import { rememberedByText } from './remembered.ts'

// Expressions of flows: CEL with numbers that are doubles, over plain JSON (flows §2.4). Invariants:
//   C1  No code is executed but ours: the source becomes a tree, and the tree is walked. Nothing of JavaScript can be named.
//   C2  Values are read by own properties only. `__proto__` and `constructor` are names as any other, or nothing.
//   C3  A source has at most 2 KB, 200 nodes and depth 16, no regular expression, and no macro within a macro's body.
//   C4  An evaluation does at most `celSteps` steps, a step being a node visited, an element touched or 16 characters read or
//       written, and what takes longer costs more; it is paid before it is done. So the time of an evaluation, of all holes of a
//       template together, is bounded by construction, regardless of the values: about 100 ns a step at the most, 50 ms in all.
//   C5  A failure may be outvoted by the other side of && and ||, as CEL has it; an exhausted budget never is.

export { celLimits } from './cel/read.ts'
export { Budget, CelExhausted, CelFailure } from './cel/values.ts'
export type { CelType, CelValue } from './cel/values.ts'

/** What the expressions of one node may do for one execution. */
export const celSteps = 500_000

export interface Expression {
  source: string
  /** The names that it takes values for, each once, in the order of their first use. */
  names: string[]
  /** The type of its value where names have these types, or why it can't hold for them. */
  typeOf(types: ReadonlyMap<string, CelType>): { type: CelType } | { problem: string }
  /**
   * Its value; plain JSON, not copied, so it may hold one part of the input many times. Names without a value are null.
   * @throws CelFailure whose message says why there is none, CelExhausted (one of them) beyond the budget
   */
  evaluate(values: Values, budget: Budget): CelValue
}

/** Reads the source of an expression. A problem's text follows "The expression ". */
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

/** The type under which an expression sees the value of a port. */
export function celTypeOf(type: ValueType | 'unknown'): CelType {
  if (type === 'unknown') return 'dyn'
  return type === 'image' || type === 'audio' ? 'object' : type
}
