import { said } from './check.ts'
import type { BinaryOperator, Tree } from './read.ts'
import { CelExhausted, CelFailure, equal, keysOf, typeOfValue, type Budget, type CelValue } from './values.ts'

/** Values by name; only own properties are read. */
export type Names = { readonly [name: string]: CelValue | undefined }

/**
 * Returns the value of an expression. A name without a value is null.
 * @throws CelFailure if it has no value; CelExhausted if it exceeds the budget
 */
export function evaluateTree(tree: Tree, names: Names, budget: Budget): CelValue {
  const inner = (child: Tree) => evaluateTree(child, names, budget)
  budget.spend(1)
  switch (tree.op) {
    case 'literal':
      return tree.value
    case 'name':
      return Object.hasOwn(names, tree.name) ? (names[tree.name] ?? null) : null
    case 'field':
      return entry(inner(tree.operand), tree.key)
    case 'has':
      return Object.hasOwn(mapOf(inner(tree.operand), tree.key), tree.key)
    case 'index':
      return element(inner(tree.operand), inner(tree.index))
    case 'list':
      return tree.items.map(inner)
    case 'map':
      budget.spend(8 * (1 + tree.entries.length))
      return mapFrom(tree.entries.map(([key, value]) => [inner(key), inner(value)]))
    case 'not':
      return !booleanOf(inner(tree.operand))
    case 'minus': {
      const value = inner(tree.operand)
      if (typeof value !== 'number') throw new CelFailure(`- is put before ${said(typeOfValue(value))}`)
      return -value
    }
    case 'and':
      return !decided(
        false,
        () => inner(tree.left),
        () => inner(tree.right),
        budget,
      )
    case 'or':
      return decided(
        true,
        () => inner(tree.left),
        () => inner(tree.right),
        budget,
      )
    case 'if':
      return booleanOf(inner(tree.condition)) ? inner(tree.yes) : inner(tree.no)
    case 'binary':
      return binary(tree.operator, inner(tree.left), inner(tree.right), budget)
    case 'call':
      return call(tree, tree.args.map(inner), budget)
    case 'each':
      return each(tree, inner(tree.range), names, budget)
  }
}

function booleanOf(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  throw new CelFailure(`${said(typeOfValue(value))} stands where a boolean is needed`)
}

/**
 * Whether one of the sides has the deciding value: false for `&&`, true for `||`. As in CEL, a failing side matters
 * only if the other side does not decide.
 */
function decided(by: boolean, left: () => CelValue, right: () => CelValue, budget: Budget): boolean {
  const first = attempt(() => booleanOf(left()), budget)
  if (first === by) return true
  if (booleanOf(right()) === by) return true
  if (first instanceof CelFailure) throw first
  return false
}

/** Cost of an error with its stack trace, in steps. */
const FAILURE_STEPS = 300

function attempt<T>(work: () => T, budget: Budget): T | CelFailure {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof CelFailure) || error instanceof CelExhausted) throw error
    budget.spend(FAILURE_STEPS)
    return error
  }
}

function mapOf(value: CelValue, key: string): { [key: string]: CelValue } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new CelFailure(`${said(typeOfValue(value))} has no field ${key}`)
}

function entry(value: CelValue, key: string): CelValue {
  const map = mapOf(value, key)
  if (!Object.hasOwn(map, key)) throw new CelFailure(`there is no field ${key.slice(0, 100)}`)
  return map[key]!
}

function element(operand: CelValue, index: CelValue): CelValue {
  if (!Array.isArray(operand)) {
    if (typeof index === 'string') return entry(operand, index)
    throw new CelFailure(`${said(typeOfValue(index))} is not a key`)
  }
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= operand.length)
    throw new CelFailure(`a list of ${operand.length} has no such element`)
  return operand[index]!
}

function mapFrom(entries: [CelValue, CelValue][]): CelValue {
  const map = Object.create(null) as { [key: string]: CelValue }
  for (const [key, value] of entries) {
    if (typeof key !== 'string') throw new CelFailure(`${said(typeOfValue(key))} is not a key`)
    if (key in map) throw new CelFailure(`the key ${key.slice(0, 100)} is given twice`)
    map[key] = value
  }
  return map
}

function binary(operator: BinaryOperator, left: CelValue, right: CelValue, budget: Budget): CelValue {
  switch (operator) {
    case '==':
      return equal(left, right, budget)
    case '!=':
      return !equal(left, right, budget)
    case 'in':
      if (Array.isArray(right)) return right.some((item) => equal(left, item, budget))
      return typeof left === 'string' && Object.hasOwn(mapOf(right, left), left)
    case '<':
      return compare(operator, left, right, budget) < 0
    case '<=':
      return compare(operator, left, right, budget) <= 0
    case '>':
      return compare(operator, left, right, budget) > 0
    case '>=':
      return compare(operator, left, right, budget) >= 0
    case '+':
      if (typeof left === 'string' && typeof right === 'string') {
        budget.spendText(left.length + right.length)
        return left + right
      }
      if (Array.isArray(left) && Array.isArray(right)) {
        budget.spend(left.length + right.length)
        return left.concat(right)
      }
      return calculate(operator, left, right)
    case '-':
    case '*':
    case '/':
    case '%':
      return calculate(operator, left, right)
  }
}

function unfit(operator: BinaryOperator, left: CelValue, right: CelValue): CelFailure {
  return new CelFailure(`${operator} stands between ${said(typeOfValue(left))} and ${said(typeOfValue(right))}`)
}

function compare(operator: BinaryOperator, left: CelValue, right: CelValue, budget: Budget): number {
  if (typeof left !== typeof right || typeof left === 'object') throw unfit(operator, left, right)
  if (typeof left === 'string') budget.spendText(Math.min(left.length, (right as string).length))
  if (left === right) return 0
  return left < (right as typeof left) ? -1 : 1
}

function calculate(operator: '+' | '-' | '*' | '/' | '%', left: CelValue, right: CelValue): number {
  if (typeof left !== 'number' || typeof right !== 'number') throw unfit(operator, left, right)
  if (right === 0 && (operator === '/' || operator === '%')) throw new CelFailure('it divides by zero')
  const result = calculated(operator, left, right)
  // JSON has only finite numbers.
  if (!Number.isFinite(result)) throw new CelFailure('a number becomes too large')
  return result
}

function calculated(operator: '+' | '-' | '*' | '/' | '%', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
  }
}

function call({ name, overloads }: Tree & { op: 'call' }, args: CelValue[], budget: Budget): CelValue {
  const types = args.map(typeOfValue)
  const found = overloads.find(({ takes }) => takes.every((taken, at) => taken === 'dyn' || taken === types[at]))
  if (!found) throw new CelFailure(`${name}() is called with ${types.map(said).join(', ')}`)
  return found.run(budget, ...(args as never[]))
}

function each(tree: Tree & { op: 'each' }, range: CelValue, names: Names, budget: Budget): CelValue {
  const { macro, name, where, step } = tree
  const items = Array.isArray(range) ? range : keysOf(mapOf(range, name), budget)
  const inner = Object.assign(Object.create(null), names) as { [name: string]: CelValue | undefined }
  const evaluateFor = (child: Tree, item: CelValue) => {
    inner[name] = item
    return evaluateTree(child, inner, budget)
  }
  const holds = (item: CelValue) => booleanOf(evaluateFor(step, item))
  budget.spend(items.length)
  switch (macro) {
    case 'map': {
      const chosen = where ? items.filter((item) => booleanOf(evaluateFor(where, item))) : items
      return chosen.map((item) => evaluateFor(step, item))
    }
    case 'filter':
      return items.filter(holds)
    case 'exists_one':
      return items.filter(holds).length === 1
    case 'exists':
      return anyOf(true, items, holds, budget)
    case 'all':
      return !anyOf(false, items, holds, budget)
  }
}

/** `decided` for any number of items. */
function anyOf(wanted: boolean, items: CelValue[], holds: (item: CelValue) => boolean, budget: Budget): boolean {
  let failure: CelFailure | null = null
  for (const item of items) {
    const outcome = attempt(() => holds(item), budget)
    if (outcome === wanted) return true
    if (outcome instanceof CelFailure) failure ??= outcome
  }
  if (failure) throw failure
  return false
}
