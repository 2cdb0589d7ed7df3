import { maxValueDepth } from '../json-text.ts'

/** Value of an expression: plain JSON. Numbers are finite doubles. */
export type CelValue = string | number | boolean | null | CelValue[] | { [key: string]: CelValue }

/** Static type of a value; `dyn`: unknown. Images and audio are objects. */
export type CelType = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'list' | 'dyn'

/** Why an expression has no value for this input. The message follows "failed: ". */
export class CelFailure extends Error {}

/** The expression exceeded its budget. No operator of an expression absorbs it. */
export class CelExhausted extends CelFailure {}

/**
 * Remaining steps of an evaluation. A step is a node of the expression, an element of a list, or 16 characters read or
 * written; slower work costs more, so no step takes more than about 100 ns. `spend` is called before the work is done.
 */
export class Budget {
  left: number

  constructor(steps: number) {
    this.left = steps
  }

  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new CelExhausted('it takes too long')
  }

  /** Spends steps for reading or writing this many characters. */
  spendText(characters: number): void {
    this.spend(1 + characters / 16)
  }
}

export function typeOfValue(value: CelValue): Exclude<CelType, 'dyn'> {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  const type = typeof value
  return type === 'object' ? 'object' : (type as 'string' | 'number' | 'boolean')
}

/** Deep equality of plain JSON; values of different types are unequal. */
export function equal(a: CelValue, b: CelValue, budget: Budget, depth = 0): boolean {
  budget.spend(1)
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false
    budget.spendText(a.length)
  }
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (depth >= maxValueDepth) throw new CelFailure('it compares values that are nested too deeply')
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, at) => equal(item, b[at]!, budget, depth + 1))
  }
  const keys = keysOf(a, budget)
  if (keys.length !== keysOf(b, budget).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key]!, b[key]!, budget, depth + 1))
}

export function keysOf(map: { [key: string]: CelValue }, budget: Budget): string[] {
  const keys = Object.keys(map)
  budget.spend(4 * keys.length)
  return keys
}
